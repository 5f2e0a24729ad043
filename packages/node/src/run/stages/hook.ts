import type { StageName } from '@orrery/protocol';
import { proxyEnvironment, proxySecretNames } from '../../exec/proxy-environment.ts';
import { HOOK_OUTPUT_BYTES } from '../../kernel/limits.ts';
import { beginStage, checkGoing, endStage, remainingMs, stageOf, type OpenAttempt, type StageEnd } from '../attempt-context.ts';
import type { HookName } from '../doors.ts';
import { AttemptEnded, endingOf } from '../ending.ts';
import { conductProgram, type ProgramEnd } from '../program.ts';
import { scriptConsumer, type ScriptOutcome } from '../script-consumer.ts';
import { limitsOf } from '../attempt-settings.ts';
import { limitIn, reachedLimit } from '../limit-text.ts';
import { memoryVariables } from '../memory.ts';
import { hookPath, memoryHome } from './open.ts';

/** Environment variables of every hook and of the agent; documented in docs/guides/hooks.md. */
export const taskEnvironment = (open: OpenAttempt, round: number): Record<string, string> => ({
  ORRERY_TASK: open.task.id,
  ORRERY_ATTEMPT: String(open.attempt.number),
  ORRERY_ROUND: String(round),
  ORRERY_PROJECT: open.task.project_id ?? '',
  ORRERY_BASE: open.prepared.baseSha ?? '',
  ORRERY_BRANCH: open.prepared.branch,
  ORRERY_WORKDIR: open.environment.workdir,
  ORRERY_SCRATCHPAD: open.environment.scratchpad,
  ...memoryVariables(memoryHome(open), open.prepared.settings.memory),
  // Also where nothing is allowed: a program is told why it is refused, and what the operator allows later is reached.
  ...proxyEnvironment(open.environment.brokerEndpoint, open.egressToken),
});

/** Runs a hook of the base commit in the attempt's environment. A repository without it skips the stage. */
export const runHook = async (
  open: OpenAttempt,
  hook: HookName,
  where: { readonly stage: StageName; readonly round: number },
): Promise<{ readonly end: StageEnd; readonly ran: boolean }> => {
  const { stage, round } = where;
  const done = await stageOf(open, stage, round);
  if (done !== null && done.ended_at !== null)
    return {
      ran: done.state !== 'skipped',
      end: { state: done.state as StageEnd['state'], exitCode: done.exit_code, note: done.note, output: done.output },
    };
  if (!open.prepared.hooks.includes(hook))
    return { ran: false, end: { state: 'skipped', exitCode: null, note: null, output: null } };
  checkGoing(open);
  const row = await beginStage(open, stage, round);
  const { end, outcome } = await conductScript(open, hook, where);
  await open.environment.sync();
  const ended = stageEndOf(end, outcome);
  if (open.cancelled.aborted) {
    endStage(open, row, { ...ended, state: 'interrupted' });
    checkGoing(open);
  }
  endStage(open, row, ended);
  return { end: ended, ran: true };
};

const conductScript = async (
  open: OpenAttempt,
  hook: HookName,
  where: { readonly stage: StageName; readonly round: number },
): Promise<ProgramEnd<ScriptOutcome>> => {
  const { environment, prepared } = open;
  const path = hookPath(open, hook);
  const script = (runId: string) => ({
    path,
    cwd: environment.workdir,
    env: taskEnvironment(open, where.round),
    secretNames: proxySecretNames,
    grants: [{ path, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true } as const],
    limits: {
      ...limitsOf(prepared.settings, Math.min(prepared.settings.hookMs, remainingMs(open, prepared.settings))),
      outputBytes: HOOK_OUTPUT_BYTES,
    },
    label: `${hook}.sh`,
    runId,
  });
  return conductProgram(open, environment, {
    ...where,
    describe: (runId) => environment.describeScript(script(runId)),
    start: (runId) => environment.startScript(script(runId)),
    input: null,
    closeInput: 'after-input',
    opening: [],
    consumer: (from) => scriptConsumer({ attempt: open.attempt.number, ...where }, from),
  });
};

const stageEndOf = (end: ProgramEnd<ScriptOutcome>['end'], outcome: ScriptOutcome): StageEnd => {
  const output = outcome.output.text;
  if (end.limit === 'wall')
    return { state: 'timeout', exitCode: null, note: `ended by its time limit after ${end.tookMs} ms`, output };
  if (end.limit !== null) return { state: 'failed', exitCode: null, note: reachedLimit(end.limit).text, output };
  if (end.signal !== null) return { state: 'failed', exitCode: null, note: `ended by ${end.signal}`, output };
  return {
    state: end.exitCode === 0 ? 'passed' : 'failed',
    exitCode: end.exitCode,
    note: end.exitCode === 0 ? null : `exit ${end.exitCode ?? 'unknown'}`,
    output,
  };
};

/** `init`, `before` and `after`: a failure ends the attempt. */
export const requireHook = async (open: OpenAttempt, hook: 'init' | 'before' | 'after', round = 1): Promise<void> => {
  try {
    const { end } = await runHook(open, hook, { stage: hook, round });
    if (end.state === 'passed' || end.state === 'skipped') return;
    const limit = end.state === 'failed' ? limitIn(end.note) : null;
    if (limit !== null) throw new AttemptEnded({ verdict: 'limit', cause: limit, reason: `${hook}.sh ${end.note}` });
    throw new AttemptEnded({
      verdict: 'failed',
      cause: end.state === 'timeout' ? 'timeout' : `hook:${hook}`,
      reason: `${hook}.sh did not pass: ${end.note ?? end.state}.`,
    });
  } catch (thrown) {
    throw thrown instanceof AttemptEnded || (thrown as Error).name === 'Detached'
      ? thrown
      : new AttemptEnded(endingOf(thrown, `hook:${hook}`));
  }
};
