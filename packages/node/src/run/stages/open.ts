import { existsSync } from 'node:fs';
import { grantedServers } from '../mcp.ts';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError, type StageName } from '@orrery/protocol';
import type { Environment, EnvironmentSpec } from '../../exec/backend.ts';
import {
  findEnvironment,
  insertEnvironment,
  recordedEnvironment,
  updateEnvironment,
  type NamedPorts,
  type RecordedEnvironment,
} from '../../environment/index.ts';
import { makeOwned, own } from '../../files/own.ts';
import type { OwnedDirectory } from '../../files/remove.ts';
import { updateAttempt } from '../../task/index.ts';
import {
  beginStage,
  checkGoing,
  endStage,
  passed,
  type AttemptContext,
  type OpenAttempt,
  type Prepared,
} from '../attempt-context.ts';
import { borrowsOf } from '../borrows.ts';
import { imageParts, limitsOf } from '../attempt-settings.ts';
import type { HookName } from '../doors.ts';
import { carryConversation } from '../conversation.ts';
import { carryMemory, memoryGrants, memoryPaths, type MemoryOf } from '../memory.ts';
import { AttemptEnded, endingOf } from '../ending.ts';
import { attemptsOwn } from '../environments/for-tasks.ts';

const name: StageName = 'open';

// Not synced: programs do not outlive the machine, so nobody reads these files after a power cut.
const ownerOnly = { mode: 0o600 } as const;

/** Opens the attempt's one environment, or finds the one that an earlier start of the node opened. */
export const open = async (context: AttemptContext, prepared: Prepared): Promise<OpenAttempt> => {
  const id = environmentId(context);
  const before = await findEnvironment(context.parts.store.read, id);
  const row = await beginStage(context, name, 1);
  try {
    checkGoing(context);
    if (before?.state === 'open') return await reopen(context, prepared, recordedEnvironment(before.spec).spec);
    const opened = await openNew(context, prepared, id);
    endStage(context, row, {
      ...passed,
      note: `${prepared.settings.backend}: ${describeGuarantees(opened.environment)}`,
      also: async (tx) => {
        await updateEnvironment(tx.db, id, { state: 'open' });
        await updateAttempt(tx.db, context.attempt.id, { guarantees: JSON.stringify(opened.environment.guarantees) });
      },
    });
    context.journal.onceDurable(() => context.parts.atKillPoint('environment-opened', name));
    return opened;
  } catch (thrown) {
    const ending = endingOf(thrown, 'backend');
    endStage(context, row, { state: 'failed', exitCode: null, note: ending.reason, output: null });
    throw new AttemptEnded(ending);
  }
};

/** One environment for each attempt: its id follows from the attempt's. */
export const environmentId = (context: AttemptContext): string => context.attempt.id.replace(/^att_/, 'env_');

/** Where an environment keeps its home, temporary files, hooks and tokens. */
export const environmentDirectory = (context: AttemptContext): string =>
  join(context.parts.environmentsDirectory, environmentId(context));

/** The directory whose memory the programs of an attempt see: that of the environment they run in. */
export const memoryHome = ({ prepared, parts, ...context }: OpenAttempt): string =>
  prepared.named === undefined ? environmentDirectory({ ...context, parts }) : join(parts.environmentsDirectory, prepared.named);

/** The directory of an attempt's environment; one that an earlier start of the node made but did not record is taken over. */
const ownDirectory = async (path: string): Promise<OwnedDirectory> => (existsSync(path) ? own(path) : makeOwned(path));

const privateFile = (context: AttemptContext, file: string): string => join(environmentDirectory(context), 'private', file);

const openNew = async (context: AttemptContext, prepared: Prepared, id: string): Promise<OpenAttempt> => {
  const { parts } = context;
  const named = prepared.named === undefined ? await parts.allocatePorts(id, prepared.settings.ports) : {};
  const spec = environmentSpec(context, prepared, { id, named });
  const directory = await ownDirectory(environmentDirectory(context));
  const recorded = context.journal.transaction(async (tx) => {
    if ((await findEnvironment(tx.db, id)) !== null) return;
    await insertEnvironment(tx.db, {
      id,
      task_id: context.task.id,
      backend: prepared.settings.backend,
      spec: JSON.stringify({ spec, directory } satisfies RecordedEnvironment),
      state: 'opening',
      opened_at: parts.clock.nowMs(),
      closed_at: null,
    });
    await updateAttempt(tx.db, context.attempt.id, { environment_id: id, backend: prepared.settings.backend });
  });
  // Begun together, both are in one commit.
  const minted = parts.tokens.mint({
    environmentId: id,
    taskId: context.task.id,
    upstream: prepared.settings.upstream,
    harness: prepared.settings.harness,
    budgetUsd: context.intent.budgetUsd ?? null,
    mcp: grantedServers(context.task),
    egress: [...prepared.settings.egress, ...(parts.harness(prepared.settings.harness).egress ?? [])],
  });
  const [, tokens] = await Promise.all([recorded, minted]);
  parts.atKillPoint('environment-recorded', name);
  await makeDirectories(context, spec);
  await writeHooks(context, prepared);
  if (prepared.named === undefined) await carryMemory(parts, environmentDirectory(context), memoryOf(context, prepared));
  await writeFile(privateFile(context, 'egress-token'), tokens.egress, ownerOnly);
  const environment =
    prepared.named === undefined
      ? await parts.backend(prepared.settings.backend).open(spec)
      : await openNamed(context, prepared.named);
  await carryOn(context, prepared, environment);
  // In an environment that others work in after it, each attempt has a file of its own.
  const file = prepared.named === undefined ? 'run-token' : `run-token-${context.attempt.id}`;
  const runTokenFile = await environment.provide(file, new TextEncoder().encode(tokens.run));
  await writeFile(privateFile(context, 'run-token'), tokens.run, ownerOnly);
  await writeFile(privateFile(context, 'run-token-path'), runTokenFile, ownerOnly);
  return { ...context, prepared, environment, egressToken: tokens.egress, runToken: tokens.run, runTokenFile };
};

/** Brings the conversation that goes on to where its program looks for it. */
const carryOn = async ({ parts }: AttemptContext, prepared: Prepared, environment: Environment): Promise<void> => {
  const { continued, settings } = prepared;
  if (continued === undefined || continued.conversation === null) return;
  const store = parts.harness(settings.harness).conversations;
  if (store === null || !environment.carriesAgentState)
    throw new OrreryError('unsupported', `A conversation of ${settings.harness} cannot go on on ${settings.backend}.`, {
      rule: 'It goes on where the state of the agent program can be carried to.',
      fix: 'orrery backend list',
    });
  await carryConversation(parts.conversationsDirectory, { taskId: continued.taskId, store, environment });
};

/** Whose memory an attempt works with. */
const memoryOf = ({ task }: AttemptContext, { settings }: Prepared): MemoryOf => ({
  kinds: settings.memory,
  projectId: task.project_id,
  harness: settings.harness,
});

const openNamed = async (context: AttemptContext, id: string): Promise<Environment> =>
  attemptsOwn(context, environmentId(context), await context.parts.named.open(id));

/** The environment that an earlier start of the node opened for the attempt. */
export const findAgain = (context: AttemptContext, prepared: Prepared, spec: EnvironmentSpec): Promise<Environment> =>
  prepared.named === undefined
    ? context.parts.backend(prepared.settings.backend).reopen(spec)
    : openNamed(context, prepared.named);

const reopen = async (context: AttemptContext, prepared: Prepared, spec: EnvironmentSpec): Promise<OpenAttempt> => {
  try {
    const environment = await findAgain(context, prepared, spec);
    const egressToken = await readFile(privateFile(context, 'egress-token'), 'utf8');
    const runTokenFile = await readFile(privateFile(context, 'run-token-path'), 'utf8');
    const runToken = await readFile(privateFile(context, 'run-token'), 'utf8');
    return { ...context, prepared, environment, egressToken, runToken, runTokenFile };
  } catch (thrown) {
    if (!['not_found', 'ENOENT'].includes((thrown as { code?: string }).code ?? '')) throw thrown;
    // It was opened, and nothing says so any more but the store: the machine lost power.
    throw new OrreryError('keeper_lost', `The environment ${spec.id} is gone, and with it whatever ran in it.`, {
      rule: 'What is not known is not guessed: the task is interrupted and yours to decide.',
      fix: `orrery task retry ${context.task.id}`,
      cause: thrown,
    });
  }
};

const environmentSpec = (
  context: AttemptContext,
  prepared: Prepared,
  { id, named }: { readonly id: string; readonly named: NamedPorts },
): EnvironmentSpec => {
  const directory = environmentDirectory(context);
  const { memory } = prepared.settings;
  const workdirAccess = context.intent.readOnly ? 'rox' : 'rwx';
  return {
    id,
    taskId: context.task.id,
    workdir: prepared.place.path,
    home: join(directory, 'home'),
    scratchpad: join(directory, 'tmp'),
    ...(memory.length === 0 || context.intent.readOnly ? {} : { memory: memoryPaths(directory).copy }),
    ...homeKeeps(context, prepared),
    grants: [
      ...memoryGrants(directory, { kinds: memory, readOnly: context.intent.readOnly }),
      { path: prepared.place.path, access: workdirAccess, scope: 'absolute', provenance: 'orrery', required: true },
      ...prepared.place.reads.map(
        (path) => ({ path, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true }) as const,
      ),
    ],
    // Every program is granted the checkout for writing; what is read-only inside grants is so on top of that.
    readOnly: context.intent.readOnly ? [prepared.place.path] : prepared.place.readOnly,
    ports: { connect: [], bind: Object.values(named), egress: prepared.settings.egress, named },
    limits: limitsOf(prepared.settings, prepared.settings.wallMs),
    required: prepared.settings.required,
    brokerSocket: context.parts.brokerSocket,
    project: context.task.project_id,
    ...imageParts(prepared.settings),
    ...borrowsOf(prepared.place, prepared.baseSha),
  };
};

/** The conversations of a program that another task could continue. */
const homeKeeps = ({ parts }: AttemptContext, { settings }: Prepared): Pick<EnvironmentSpec, 'homeKeeps'> => {
  const store = parts.harness(settings.harness).conversations;
  return store === null ? {} : { homeKeeps: store.folder };
};

const makeDirectories = async (context: AttemptContext, spec: EnvironmentSpec): Promise<void> => {
  await mkdir(context.parts.environmentsDirectory, { recursive: true, mode: 0o700 });
  for (const path of [
    environmentDirectory(context),
    spec.home,
    spec.scratchpad,
    join(environmentDirectory(context), 'private'),
    hooksDirectory(context),
  ]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  }
};

const hooksDirectory = (context: AttemptContext): string => join(environmentDirectory(context), 'hooks');

/** Where a hook of the base commit lies for this attempt. */
export const hookPath = (context: AttemptContext, hook: HookName): string => join(hooksDirectory(context), `${hook}.sh`);

const writeHooks = async (context: AttemptContext, prepared: Prepared): Promise<void> => {
  const sha = prepared.rulesSha ?? prepared.baseSha;
  if (context.task.project_id === null || sha === null) return;
  const { hooks } = await context.parts.projects.readHooks(context.task.project_id, sha);
  for (const [hook, content] of hooks) await writeFile(hookPath(context, hook), content, ownerOnly);
};

const describeGuarantees = (environment: Environment): string => {
  const held = environment.guarantees.filter((report) => report.held).map((report) => report.guarantee);
  return held.length === 0 ? 'no confinement' : `guarantees ${held.join(', ')}`;
};
