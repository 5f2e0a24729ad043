// Begins a session's program, or finds the one that an earlier start of the node began.

import { readFile } from 'node:fs/promises';
import { OrreryError, type PermissionMode } from '@orrery/protocol';
import { changeNamed, namedById, type NamedRow } from '../../environment/index.ts';
import { neverBegan, type Environment, type RunSpec } from '../../exec/backend.ts';
import { proxyEnvironment, proxySecretNames } from '../../exec/proxy-environment.ts';
import type { SessionAdapter, SessionLaunch } from '../../harness/harness.ts';
import { SESSION_OUTPUT_BYTES, SESSION_PROGRAM_MS } from '../../kernel/limits.ts';
import { createMutex } from '../../kernel/mutex.ts';
import {
  changeSession,
  findSessionRun,
  insertFrames,
  insertSessionRun,
  updateSessionRun,
  type SessionRow,
  type SessionRunRow,
} from '../../session/index.ts';
import { limitsOf } from '../attempt-settings.ts';
import type { AttemptSettings } from '../doors.ts';
import { memoryVariables } from '../memory.ts';
import { placePaths, preparedOf } from '../environments/place.ts';
import type { Live, SessionConductorParts } from './context.ts';

/** The part of a session's harness that holds conversations. */
export const adapterOf = (parts: SessionConductorParts, harness: string): SessionAdapter => {
  const { session } = parts.harness(harness);
  if (session !== null) return session;
  throw new OrreryError('unsupported', `The harness ${harness} holds no conversations.`, {
    rule: 'A session needs a program that takes one input after another.',
    fix: 'orrery harness list',
  });
};

/** Starts a process. Its row and what it is told first are durable before it may act. */
export const startProgram = async (
  parts: SessionConductorParts,
  session: SessionRow,
  place: { readonly row: NamedRow; readonly environment: Environment },
): Promise<Live> => {
  const adapter = adapterOf(parts, session.harness);
  const settings = await settingsOf(parts, session, place.row);
  const generation = session.generation + 1;
  const runId = `session.${generation}.${parts.ids('run')}`;
  const spec = await launchSpec(parts, { session, adapter, settings, runId, ...place });
  const dialogue = adapter.dialogue({ offset: 0, state: null });
  const { model, effort, conversation } = session;
  const first = dialogue.begin({
    conversation,
    workdir: place.environment.workdir,
    model,
    effort,
    mode: session.mode as PermissionMode,
  });
  const nowMs = parts.clock.nowMs();
  await parts.store.transaction(async (tx) => {
    await insertSessionRun(tx.db, {
      id: runId,
      session_id: session.id,
      generation,
      described: place.environment.describe(spec),
      state: 'recorded',
      ready: 0,
      stdout_offset: 0,
      stderr_offset: 0,
      stderr_tail: '',
      dialogue: JSON.stringify(dialogue.position().state),
      started_at: nowMs,
    });
    await changeSession(tx, session.id, { generation, run_id: runId, told_mode: session.mode, nowMs });
    await insertFrames(
      tx.db,
      first.frames.map(({ key, text }) => ({ session_id: session.id, generation, key, text, turn_id: null })),
    );
  });
  parts.atKillPoint('session-run-recorded', session.harness);
  const handle = await place.environment.start(spec);
  parts.atKillPoint('session-run-launched', session.harness);
  await parts.store.transaction((tx) =>
    updateSessionRun(tx.db, runId, { identity: JSON.stringify(handle.identity), state: 'launched' }),
  );
  await handle.go();
  parts.atKillPoint('session-run-going', session.harness);
  return liveOf(parts, { session: { ...session, generation }, runId, adapter, dialogue, handle, environment: place.environment });
};

/** The process that an earlier start of the node began; null when it never began or is gone without a word. */
export const findProgram = async (
  parts: SessionConductorParts,
  session: SessionRow,
  environment: Environment,
): Promise<{ readonly live: Live | null; readonly run: SessionRunRow } | null> => {
  const run = session.run_id === null ? null : await findSessionRun(parts.store.read, session.run_id);
  if (run === null) return null;
  const handle = await environment.reattach(run.id);
  if (handle === null) return { live: null, run };
  const end = await handle.tryWait();
  if (end !== null && neverBegan(end)) {
    await handle.finish();
    return { live: null, run: { ...run, state: 'recorded' } };
  }
  if (end === null) {
    await parts.store.transaction((tx) =>
      updateSessionRun(tx.db, run.id, { identity: JSON.stringify(handle.identity), state: 'launched' }),
    );
    await handle.go();
  }
  const adapter = adapterOf(parts, session.harness);
  const dialogue = await dialogueOf(adapter, run, handle);
  return { run, live: liveOf(parts, { session, runId: run.id, adapter, dialogue, handle, environment }) };
};

/** Where the reading goes on. A program whose stored state this version cannot read is ended: nobody could go on with it. */
const dialogueOf = async (adapter: SessionAdapter, run: SessionRunRow, handle: Live['handle']): Promise<Live['dialogue']> => {
  try {
    return adapter.dialogue({ offset: run.stdout_offset, state: JSON.parse(run.dialogue) });
  } catch (thrown) {
    await handle.kill();
    await handle.finish();
    throw thrown;
  }
};

const liveOf = (
  parts: SessionConductorParts,
  given: { readonly session: SessionRow; readonly runId: string; readonly adapter: SessionAdapter } & Pick<
    Live,
    'dialogue' | 'handle' | 'environment'
  >,
): Live => ({
  sessionId: given.session.id,
  generation: given.session.generation,
  runId: given.runId,
  environment: given.environment,
  handle: given.handle,
  dialogue: given.dialogue,
  program: given.adapter.program,
  turns: createMutex(),
  writes: createMutex(),
  leaving: false,
  ...{ ending: false, unfit: null, stopping: null },
  quietSince: parts.clock.nowMs(),
});

const settingsOf = async (parts: SessionConductorParts, session: SessionRow, row: NamedRow): Promise<AttemptSettings> => {
  const prepared = preparedOf(row);
  const { projectFile } =
    prepared === null ? { projectFile: null } : await parts.projects.readHooks(row.project_id, prepared.baseSha);
  const { harness, model, effort } = session;
  const intent = {
    prompt: session.name,
    project: row.project_id,
    backend: row.backend,
    harness,
    ...(model === null ? {} : { model }),
    ...(effort === null ? {} : { effort }),
    readOnly: false,
    priority: 0,
  };
  return parts.settle({ intent, projectFile });
};

type Launching = {
  readonly session: SessionRow;
  readonly adapter: SessionAdapter;
  readonly settings: AttemptSettings;
  readonly runId: string;
  readonly row: NamedRow;
  readonly environment: Environment;
};

const launchSpec = async (parts: SessionConductorParts, given: Launching): Promise<RunSpec> => {
  const { session, adapter, settings, runId, environment, row } = given;
  const harness = parts.harness(session.harness);
  const program = harness.pin === null ? null : await parts.program(harness.id);
  const tokens = await parts.tokens.mint({
    environmentId: session.id,
    taskId: session.id,
    upstream: settings.upstream,
    budgetUsd: null,
    egress: [],
  });
  const tokenFile = await environment.provide(`run-token-${session.id}`, new TextEncoder().encode(tokens.run));
  const launch = adapter.launch({
    program,
    conversation: session.conversation,
    model: (settings.upstream === null ? settings.model : null) ?? harness.defaultModel,
    effort: settings.effort,
    workdir: environment.workdir,
    home: environment.home,
    scratchpad: environment.scratchpad,
    brokerEndpoint: environment.brokerEndpoint,
    tokenFile,
    systemPrompt: null,
    asRoot: parts.asRoot,
    mode: session.mode as PermissionMode,
  });
  for (const [path, content] of Object.entries(launch.homeFiles)) await environment.writeHomeFile(path, content);
  const egressToken = await readFile(placePaths(parts, row.id).egressToken, 'utf8');
  return specOf(parts, { launch, session, settings, runId, row, environment, tokenFile, egressToken });
};

const specOf = (
  parts: SessionConductorParts,
  given: Omit<Launching, 'adapter'> & {
    readonly launch: SessionLaunch;
    readonly tokenFile: string;
    readonly egressToken: string;
  },
): RunSpec => {
  const { launch, session, settings, runId, environment, tokenFile } = given;
  return {
    command: launch.command,
    args: launch.args,
    cwd: environment.workdir,
    grants: [
      { path: tokenFile, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true },
      ...launch.programPaths.map(
        (path) => ({ path, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true }) as const,
      ),
    ],
    env: { ...variablesOf(parts, given), ...launch.env },
    secretNames: proxySecretNames,
    envPassthrough: ['LANG', 'LC_ALL', 'TZ'],
    stdio: 'stream',
    limits: { ...limitsOf(settings, SESSION_PROGRAM_MS), outputBytes: SESSION_OUTPUT_BYTES },
    label: `session ${session.name}`,
    runId,
  };
};

/** Variables of a session's program, beside its own. */
const variablesOf = (
  parts: SessionConductorParts,
  {
    session,
    row,
    environment,
    egressToken,
  }: Pick<Launching, 'session' | 'row' | 'environment'> & { readonly egressToken: string },
): Record<string, string> => {
  const prepared = preparedOf(row);
  return {
    ORRERY_SESSION: session.id,
    ORRERY_ENVIRONMENT: row.id,
    ORRERY_PROJECT: row.project_id,
    ORRERY_BASE: prepared?.baseSha ?? '',
    ORRERY_BRANCH: row.branch,
    ORRERY_WORKDIR: environment.workdir,
    ORRERY_SCRATCHPAD: environment.scratchpad,
    ...memoryVariables(placePaths(parts, row.id).directory, prepared?.settings.memory ?? []),
    ...proxyEnvironment(environment.brokerEndpoint, egressToken),
  };
};

/** Whether nothing can run where a session's program ran: its environment is stopped or gone. */
export const isPlaceClosed = async (parts: SessionConductorParts, { environment_id: id }: SessionRow): Promise<boolean> => {
  await parts.environments.settled(id);
  const row = await namedById(parts.store.read, id);
  return row === null || row.deleted_at !== null || (row.operation === null && row.open === 0);
};

/** The environment of a session, started when it sleeps. Rejects with why it cannot be had. */
export const placeOf = async (
  parts: SessionConductorParts,
  session: SessionRow,
  stopped: AbortSignal,
): Promise<{ readonly row: NamedRow; readonly environment: Environment } | null> => {
  for (;;) {
    await parts.environments.settled(session.environment_id);
    if (stopped.aborted) return null;
    const row = await namedById(parts.store.read, session.environment_id);
    if (row === null || row.deleted_at !== null) throw gone(session);
    if (row.operation !== null) {
      parts.environments.begin(row.id);
      continue;
    }
    if (row.state === 'ready') return { row, environment: await parts.environments.open(row) };
    await wakeEnvironment(parts, row);
  }
};

const wakeEnvironment = async (parts: SessionConductorParts, row: NamedRow): Promise<void> => {
  if (row.state !== 'stopped' || row.spec === null)
    throw new OrreryError('conflict', `The environment ${row.name} is ${row.state}: ${row.reason ?? 'no reason is known'}`, {
      rule: 'A session works in an environment that is ready; what waits for it stays.',
      fix: `orrery env setup ${row.name}`,
    });
  const nowMs = parts.clock.nowMs();
  await parts.store.transaction((tx) => changeNamed(tx, row.id, { operation: 'start', reason: null, nowMs }));
  parts.environments.begin(row.id);
};

const gone = (session: SessionRow): OrreryError =>
  new OrreryError('not_found', `The environment of the session ${session.name} was deleted.`, {
    rule: 'A session lives in one environment and in no other; its log stays.',
    fix: `orrery session end ${session.name}`,
  });
