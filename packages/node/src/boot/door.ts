// The doors of a node, opened onto its slices.

import {
  cookieName,
  createAdmission,
  createApi,
  createStreams,
  createUpgrades,
  readPages,
  serveApi,
  type ApiServer,
} from '../api/index.ts';
import { egressHandlers } from '../broker/index.ts';
import {
  createForwarding,
  createOpenPlaces,
  createTerminals,
  environmentHandlers,
  insideHandlers,
  type Environments,
} from '../environment/index.ts';
import { interactionHandlers, type Interactions } from '../interaction/index.ts';
import { errorFields } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { createPreviews } from '../preview/index.ts';
import type { Talking } from './sessions.ts';
import { agentHandlers } from '../agent/index.ts';
import { newestOf, openAgents } from './agents.ts';
import { programLoginHandlers } from '../program-login/index.ts';
import { projectHandlers } from '../project/index.ts';
import { queueHandlers } from '../queue/index.ts';
import type { RunLoop } from '../run/loop.ts';
import { openCatalogues } from './sessions.ts';
import {
  catalogueHandlers,
  sessionHandlers,
  sessionHistoryHandlers,
  type LiveTexts,
  type SessionHistory,
  type SessionReview,
  type Sessions,
} from '../session/index.ts';
import { taskHandlers, type Tasks } from '../task/index.ts';
import { createLogins, loginHandlers, tokenHandlers } from '../token/index.ts';
import { attachedHandlers, type Attached } from '../attached/index.ts';
import { policyHandlers, type Policies } from '../policy/index.ts';
import { pushHandlers, type Push } from '../push/index.ts';
import { auditHandlers } from '../audit/index.ts';
import { usageHandlers } from '../usage/index.ts';
import { salvageHandlers } from '../workspace/index.ts';
import { environmentApplyHandlers } from './environment-apply.ts';
import { openPullRequests } from './pull-requests.ts';
import { salvageParts } from './salvage.ts';
import { toOrreryError } from '@orrery/protocol/errors';
import { nodeHandlers } from './handlers.ts';
import type { NodeState } from './node-state.ts';
import { clock, ids, type Parts } from './parts.ts';
import { terminalRoute } from './terminal-socket.ts';
import { portRoute } from './upgrades.ts';
import { webClientFolder } from './web-client.ts';

type Door = {
  readonly state: NodeState;
  readonly tasks: Tasks;
  readonly environments: Environments;
  readonly sessions: Sessions;
  readonly attached: Attached;
  readonly push: Push;
  readonly liveTexts: LiveTexts;
  readonly history: SessionHistory;
  readonly review: SessionReview;
  readonly takeBack: Talking['takeBack'];
  readonly interactions: Interactions;
  readonly policies: Policies;
  readonly loop: RunLoop;
  readonly stop: (now: boolean) => void;
  readonly stopping: AbortSignal;
};

/** Opens the doors: HTTP, streams, terminals, ports and previews. */
export const openDoor = async (parts: Parts, given: Door): Promise<ApiServer> => {
  const { store, log, tokens, config, options } = parts;
  const { tasks } = given;
  const taskId = async (reference: string): Promise<string> => (await tasks.find(reference)).id;
  const sessionId = async (reference: string): Promise<string> => (await given.sessions.find(reference)).id;
  const places = createOpenPlaces({ store, backend: parts.backends.any, environments: given.environments, taskId });
  const forwarding = createForwarding(places);
  const usual = (key: string): boolean => config.explain(key).origin === 'default';
  const previews = createPreviews({
    ...{ places, forwarding, store, clock, random: systemRandom, log },
    port: () => config.current().listen.previewPort,
    anyPort: () => usual('listen.previewPort'),
  });
  const { environmentsDirectory, screens } = parts;
  const terminals = createTerminals({ store, clock, ids, log, places, screens, environmentsDirectory });
  const cookie = cookieName(parts.installation);
  const pages = await readPages(webClientFolder(options.env));
  const handlers = {
    ...sliceHandlers(parts, given),
    ...egressHandlers({ egress: parts.broker.egress, subject: places.subject }),
    ...insideHandlers({ terminals, places }),
    ...previews.handlers,
    ...loginHandlers(createLogins({ tokens, clock, random: systemRandom }), { hasPages: pages !== null }),
  };
  const streams = createStreams({ store, log, resolveTask: taskId, resolveSession: sessionId, liveTexts: given.liveTexts });
  const admit = createAdmission({ tokens, clock });
  const app = createApi({ handlers, admit, streams, clock, log, cookie, ...(pages === null ? {} : { pages }) });
  const upgrades = createUpgrades({
    routes: [portRoute(forwarding), terminalRoute({ terminals, ids })],
    admit,
    log,
    cookie,
  });
  const { host, port } = config.current().listen;
  const listen = async (at: number): Promise<ApiServer> => {
    const api = await serveApi({ app, streams, upgrades, host, port: at, insecureBind: options.insecureBind });
    return { ...api, close: async () => void (await Promise.all([previews.close(), api.close()])) };
  };
  // Nobody asked for the usual port: when another program has it, any other will do, since clients read the descriptor.
  return listen(port).catch((thrown: unknown) =>
    usual('listen.port') && toOrreryError(thrown).code === 'conflict' ? listen(0) : Promise.reject(thrown),
  );
};

/** What the slices answer. */
const sliceHandlers = (parts: Parts, given: Door) => {
  const { store, tokens, projects, results, paths } = parts;
  const { tasks, loop, state, attached } = given;
  const sessionId = async (reference: string): Promise<string> => (await given.sessions.find(reference)).id;
  return {
    ...nodeHandlers({ ...parts, state, tasks, clock, policies: given.policies, dataDirectory: paths.data, stop: given.stop }),
    ...warmly(parts, projectHandlers(projects)),
    ...tellingOfTree(parts, taskHandlers({ store, tasks, results, clock, checkAttached: attached.checkIts })),
    ...agentHandlers(openAgents(parts), newestOf(parts)),
    ...environmentHandlers(given.environments),
    ...environmentApplyHandlers(parts, given),
    ...sessionHandlers({ store, sessions: given.sessions, attachedState: attached.stateOf }),
    ...attachedHandlers(attached),
    ...pushHandlers(given.push),
    ...sessionHistoryHandlers({ ...given, store }),
    ...catalogueHandlers({ sessions: given.sessions, catalogues: openCatalogues(parts) }),
    ...interactionHandlers({ store, interactions: given.interactions, sessionId }),
    ...policyHandlers(given.policies),
    ...openPullRequests(parts, given),
    ...queueHandlers({ store, wake: loop.wake }),
    ...salvageHandlers(salvageParts(parts)),
    ...tokenHandlers(tokens),
    ...usageHandlers(parts.usage),
    ...auditHandlers(parts.store),
    ...programLoginHandlers(parts.programLogins),
  };
};

/** A project that was added gets its first checkout made ready, so that its first task need not wait for one. */
const warmly = ({ workspace, log }: Parts, handlers: ReturnType<typeof projectHandlers>): ReturnType<typeof projectHandlers> => ({
  ...handlers,
  projectAdd: async (call) => {
    const project = await handlers.projectAdd(call);
    if (project.headSha !== null)
      workspace
        .warm(project.id, project.headSha)
        .catch((thrown: unknown) => log.warn('workspace.warm.failed', errorFields(thrown)));
    return project;
  },
});

/** A task begins at a commit: whoever queues it is told how many files of the tree are no part of it, without waiting for that. */
const tellingOfTree = (
  { projects, store, log }: Parts,
  handlers: ReturnType<typeof taskHandlers>,
): ReturnType<typeof taskHandlers> => {
  const tell = async (taskId: string, projectId: string): Promise<void> => {
    const { length } = await projects.uncommitted(projectId);
    if (length === 0) return;
    const text = `${length} uncommitted ${length === 1 ? 'file of your tree is' : 'files of your tree are'} no part of this task: it begins at a commit.`;
    await store.append([{ taskId, turn: null, body: { kind: 'notice', level: 'info', text } }]);
  };
  return {
    ...handlers,
    taskAdd: async (call) => {
      const task = await handlers.taskAdd(call);
      if (task.project !== null && !task.replayed)
        tell(task.id, task.project.id).catch((thrown: unknown) => log.warn('task.tree.unread', errorFields(thrown)));
      return task;
    },
  };
};
