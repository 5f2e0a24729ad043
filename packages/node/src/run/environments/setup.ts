// Runs the set-up of a named environment: `init.sh` of the base commit, then the project's `setup` lines, each program's
// output in the log as it comes. A set-up that a node did not see to its end is failed, and never begun again by itself.

import { open, type FileHandle } from 'node:fs/promises';
import { OrreryError, toOrreryError } from '@orrery/protocol';
import { changeNamed, namedById, setupLogFile, setupOf, type NamedRow, type SetupRecord } from '../../environment/index.ts';
import type { Environment, Handle, RunEnd, ScriptSpec } from '../../exec/backend.ts';
import { proxyEnvironment, proxySecretNames } from '../../exec/proxy-environment.ts';
import { HOOK_OUTPUT_BYTES, SETUP_LOG_BYTES, TERMINATE_GRACE_MS } from '../../kernel/limits.ts';
import { toInstant } from '../../kernel/clock.ts';
import { limitsOf } from '../attempt-settings.ts';
import type { ConductorParts } from '../doors.ts';
import { reachedLimit } from '../limit-text.ts';
import { memoryVariables } from '../memory.ts';
import { placePaths, type NamedPrepared } from './place.ts';

/** One script of a set-up. */
export type SetupScript = { readonly label: string; readonly path: string };

/** The scripts that an environment has. */
export const scriptsOf = (
  parts: ConductorParts,
  id: string,
  prepared: Pick<NamedPrepared, 'hooks' | 'settings'>,
): SetupScript[] => {
  const paths = placePaths(parts, id);
  return [
    ...(prepared.hooks.includes('init') ? [{ label: 'init.sh', path: paths.init }] : []),
    ...(prepared.settings.setup.length > 0 ? [{ label: 'setup', path: paths.setup }] : []),
  ];
};

type Setup = {
  readonly parts: ConductorParts;
  readonly row: NamedRow;
  readonly prepared: NamedPrepared;
  readonly environment: Environment;
  readonly egressToken: string;
  /** Aborted when a person wants something else of the environment. */
  readonly stopped: AbortSignal;
};

/** Runs it; answers why it failed, or null. Rejects only when the node stops meanwhile. */
export const runSetup = async (setup: Setup): Promise<string | null> => {
  const { parts, row, prepared } = setup;
  const log = await openLog(setupLogFile(parts.environmentsDirectory, row.id));
  try {
    for (const script of scriptsOf(parts, row.id, prepared)) {
      await log.write(`── ${script.label}, ${toInstant(parts.clock.nowMs())} ──\n`);
      const failed = await runScript(setup, script, log).catch((thrown: unknown) => toOrreryError(thrown).toLines().join(' '));
      setup.parts.atKillPoint('environment-script-ended', script.label);
      if (failed === null) continue;
      await log.write(`── ${script.label} failed: ${failed} ──\n`);
      return `${script.label}: ${failed}`;
    }
    return null;
  } finally {
    await log.close();
  }
};

const runScript = async (setup: Setup, script: SetupScript, log: SetupLog): Promise<string | null> => {
  const { parts, row, environment, stopped } = setup;
  const runId = `setup.${parts.ids('run')}`;
  await noteRun(parts, row.id, runId);
  const handle = await environment.startScript(scriptSpec(setup, script, runId));
  const stop = (): void => void endRun(parts, handle).catch(() => undefined);
  stopped.addEventListener('abort', stop);
  try {
    await handle.go();
    parts.atKillPoint('environment-script-going', script.label);
    if (stopped.aborted) stop();
    await Promise.all((['stdout', 'stderr'] as const).map((stream) => follow(handle, stream, log)));
    const end = await handle.wait();
    await handle.finish();
    return stopped.aborted ? 'it was stopped' : whyFailed(end);
  } finally {
    stopped.removeEventListener('abort', stop);
  }
};

const follow = async (handle: Handle, stream: 'stdout' | 'stderr', log: SetupLog): Promise<void> => {
  for await (const { offset, bytes } of handle.output(stream, 0)) {
    await log.write(bytes);
    await handle.release(stream, offset + bytes.length);
  }
};

const whyFailed = (end: RunEnd): string | null => {
  if (end.limit !== null) return reachedLimit(end.limit).text;
  if (end.signal !== null) return `ended by ${end.signal}`;
  if (end.exitCode === null) return end.reason ?? 'it ended without an exit code';
  return end.exitCode === 0 ? null : `exit ${end.exitCode}`;
};

const scriptSpec = (
  { parts, row, prepared, environment, egressToken }: Setup,
  script: SetupScript,
  runId: string,
): ScriptSpec => {
  const { directory } = placePaths(parts, row.id);
  return {
    path: script.path,
    cwd: environment.workdir,
    env: {
      ORRERY_ENVIRONMENT: row.id,
      ORRERY_PROJECT: row.project_id,
      ORRERY_BASE: prepared.baseSha,
      ORRERY_BRANCH: row.branch,
      ORRERY_WORKDIR: environment.workdir,
      ORRERY_SCRATCHPAD: environment.scratchpad,
      ...memoryVariables(directory, prepared.settings.memory),
      ...proxyEnvironment(environment.brokerEndpoint, egressToken),
    },
    secretNames: proxySecretNames,
    grants: [{ path: script.path, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true }],
    limits: { ...limitsOf(prepared.settings, prepared.settings.hookMs), outputBytes: HOOK_OUTPUT_BYTES },
    label: script.label,
    runId,
  };
};

/** Asks a program to end, then does not ask. */
const endRun = async (parts: ConductorParts, handle: Handle): Promise<void> => {
  await handle.terminate();
  await parts.clock.sleep(TERMINATE_GRACE_MS);
  await handle.kill();
};

/** Recorded before it starts: whatever starts after a crash is found by it and ended. */
const noteRun = (parts: ConductorParts, id: string, runId: string): Promise<void> =>
  parts.store.transaction(async (tx) => {
    const row = await namedById(tx.db, id);
    if (row === null) return;
    const record: SetupRecord = { ...setupOf(row), runId };
    await changeNamed(tx, id, { setup: JSON.stringify(record), nowMs: parts.clock.nowMs() });
  });

/** Ends what is left of a set-up that an earlier start of the node began. */
export const endLeftSetup = async (row: NamedRow, environment: Environment): Promise<void> => {
  const { runId } = setupOf(row);
  if (runId === undefined) return;
  const handle = await environment.reattach(runId);
  if (handle === null) return;
  await handle.kill();
  await handle.finish().catch((thrown: unknown) => {
    if (!(thrown instanceof OrreryError)) throw thrown;
  });
};

export type SetupLog = { write(text: string | Uint8Array): Promise<void>; close(): Promise<void> };

/** Appends until the log is full; that is said once. Pieces of both streams follow each other as they came. */
export const openLog = async (path: string): Promise<SetupLog> => {
  const file: FileHandle = await open(path, 'a', 0o600);
  let size = (await file.stat()).size;
  let full = size >= SETUP_LOG_BYTES;
  let tail: Promise<void> = Promise.resolve();
  const append = async (piece: Buffer): Promise<void> => {
    if (full) return;
    full = size + piece.length > SETUP_LOG_BYTES;
    const bytes = full ? Buffer.from(`\n── this log is full at ${SETUP_LOG_BYTES} bytes; the rest is not kept ──\n`) : piece;
    size += bytes.length;
    await file.appendFile(bytes);
  };
  return {
    write: (text) => (tail = tail.then(() => append(Buffer.from(text)))),
    close: async () => {
      await tail.catch(() => undefined);
      await file.close();
    },
  };
};
