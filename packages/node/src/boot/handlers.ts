import type { Harness } from '../harness/harness.ts';
import type { OperationHandlers } from '@orrery/protocol';
import type { Config } from '../config/config.ts';
import type { HarnessPrograms } from '../harness/install.ts';
import { needsProgram } from '../harness/program.ts';
import type { HarnessRegistry } from '../harness/registry.ts';
import { hasWorked } from './verified.ts';
import type { ProgramLogins } from '../program-login/index.ts';
import type { Projects } from '../project/index.ts';
import type { Store } from '../store/store.ts';
import { tasksInStates, type Tasks } from '../task/index.ts';
import type { Backends } from './backends.ts';
import { examine, type DoctorParts } from './doctor.ts';
import { pruneBackends } from './prune.ts';
import { nodeFacts, type NodeState } from './node-state.ts';

/** What the node-wide operations need. */
export type NodeHandlerParts = DoctorParts & {
  readonly state: NodeState;
  readonly store: Store;
  readonly config: Config;
  readonly projects: Projects;
  readonly tasks: Tasks;
  readonly backends: Backends;
  readonly harnesses: HarnessRegistry;
  readonly programs: HarnessPrograms;
  readonly programLogins: Pick<ProgramLogins, 'paidBy'>;
  /** Ends the node: after its running tasks, or at once with programs running on. */
  stop(now: boolean): void;
};

type NodeOperations =
  | 'nodeShow'
  | 'nodeDoctor'
  | 'nodeDrain'
  | 'nodePrune'
  | 'snapshot'
  | 'eventList'
  | 'backendList'
  | 'harnessList'
  | 'harnessInstall'
  | 'configList'
  | 'configExplain';

/** How many projects a snapshot holds; the rest is paged. */
const snapshotProjects = 200;

export const nodeHandlers = (parts: NodeHandlerParts): Pick<OperationHandlers, NodeOperations> => {
  const { store, config, state } = parts;
  const facts = () => nodeFacts(state, { store, config: config.current });
  return {
    nodeShow: facts,
    nodeDoctor: () => examine(parts),
    nodeDrain: async ({ body }) => {
      if (body.stop) parts.stop(body.now);
      return { ok: true };
    },
    nodePrune: ({ body }) => pruneBackends({ ...parts, ...body }),
    snapshot: async () => {
      const seq = store.seq();
      const live = await tasksInStates(store.read, ['queued', 'waiting', 'running']);
      const { items } = await parts.projects.list({ limit: snapshotProjects });
      return {
        seq,
        node: { ...(await facts()), seq },
        projects: items,
        tasks: await Promise.all(live.map((row) => parts.tasks.view(row))),
      };
    },
    eventList: async ({ query }) => {
      const items = await store.events(query);
      const last = items.length === query.limit ? items.at(-1) : undefined;
      return { items: [...items], nextCursor: last === undefined ? null : String(last.seq), seq: store.seq() };
    },
    backendList: async () => ({ items: await parts.backends.views() }),
    harnessList: () => listHarnesses(parts),
    harnessInstall: async ({ params }) => {
      const { id } = parts.harnesses.get(params.id);
      return parts.programs.install(id);
    },
    configList: async ({ query }) => ({
      file: config.file,
      problem: config.problem()?.toLines() ?? null,
      items: config.list(query.project === undefined ? null : await projectFile(parts, query.project)),
    }),
    configExplain: async ({ query }) =>
      config.explain(query.key, query.project === undefined ? null : await projectFile(parts, query.project)),
  };
};

const listHarnesses = async ({
  harnesses,
  programs,
  programLogins,
  config,
  store,
}: NodeHandlerParts): Promise<{ items: Awaited<ReturnType<OperationHandlers['harnessList']>>['items'] }> => ({
  items: await Promise.all(
    harnesses.list.map(async (harness) => ({
      id: harness.id,
      summary: harness.summary,
      program: harness.own?.command ?? harness.pin?.packages[0]?.name ?? null,
      pinnedVersion: harness.pin?.version ?? null,
      installedVersion: needsProgram(harness) ? ((await programs.installed(harness.id))?.version ?? null) : null,
      isDefault: harness.id === config.current().harness,
      provenance: config.current().harnesses[harness.id] === undefined ? 'built-in' : 'config.yaml',
      verified: harness.declared !== true || (await hasWorked(store, harness.id)),
      capabilities: { ...harness.capabilities, fullScreen: harness.screen !== null, sessions: sessionsOf(harness) },
      defaultModel: harness.defaultModel,
      paidBy: await programLogins.paidBy(harness),
      toolGate: harness.session?.capabilities.toolGate ?? null,
      missing: missingOf(harness),
    })),
  ),
});

/** What it can do in a conversation with people; false: it holds none. */
const sessionsOf = ({ session }: Harness): boolean | string[] => {
  if (session === null) return false;
  const { modes, fork, rewind, ...abilities } = session.capabilities;
  const able = Object.entries(abilities).flatMap(([name, can]) => (can === true ? [name] : []));
  return [...able, `fork ${fork}`, `rewind ${rewind}`, ...modes.map((mode) => `mode ${mode}`)];
};

/** What it cannot in a conversation, each with its reason. */
const missingOf = ({ session }: Harness): { what: string; why: string }[] =>
  Object.entries(session?.capabilities.missing ?? {}).map(([what, why]) => ({ what, why }));

/** The project's file at the commit a task would begin at now. */
const projectFile = async (
  { projects }: NodeHandlerParts,
  reference: string,
): Promise<{ text: string; label: string } | null> => {
  const project = await projects.resolve(reference);
  const { settings } = await projects.readHooks(project.id, await projects.resolveBase(project.id, null));
  return settings === null ? null : { text: settings, label: `${project.name}: .orrery/orrery.yaml` };
};
