import { join } from 'node:path';
import { SUMMARY_CHARS } from '../../kernel/limits.ts';
import { OrreryError, type StageName, type TaskResult, type TaskState } from '@orrery/protocol';
import type { Environment } from '../../exec/backend.ts';
import { endLostRuns, findEnvironment, recordedEnvironment, updateEnvironment } from '../../environment/index.ts';
import { dequeue, type Claim } from '../../queue/index.ts';
import { type Ending, interruptStages, openAttempt, stagesOf, tellWaiting, updateAttempt, updateTask } from '../../task/index.ts';
import { beginStage, endStage, passed, saveEnding, taskEvent, type AttemptContext, type Prepared } from '../attempt-context.ts';
import type { Collected } from '../doors.ts';
import { noteTurn } from '../../usage/index.ts';
import type { Tx } from '../../store/store.ts';
import { accountFor } from '../account-limits.ts';
import { lastReset, lastText } from '../answer.ts';
import { keepConversation } from '../conversation.ts';
import { endingWithLoss } from '../ending.ts';
import { limitIn } from '../limit-text.ts';
import { mergeMemory } from '../memory.ts';
import { environmentDirectory, environmentId, findAgain } from './open.ts';

const name: StageName = 'settle';

/** Longest first line of a commit's message. */
const MESSAGE_CHARS = 72;

/** What an attempt had reached when it came to its end. */
export type Reached = {
  readonly prepared: Prepared | null;
  readonly environment: Environment | null;
};

const nothing: Collected = {
  headSha: null,
  resultRef: null,
  filesChanged: 0,
  insertions: 0,
  deletions: 0,
  commits: 0,
  salvageRef: null,
  notes: [],
};

/**
 * Ends every process of the environment, brings the work into the mirror, and records the verdict in one transaction.
 * Every step can be repeated, so that a crash between two of them loses nothing.
 */
export const settle = async (
  context: AttemptContext,
  claim: Claim,
  { ending, reached }: { readonly ending: Ending; readonly reached: Reached },
): Promise<void> => {
  const { parts } = context;
  const { prepared } = reached;
  const row = await beginStage(context, name, 1);
  await Promise.all([
    context.journal.transaction((tx) => saveEnding(tx, context, { prepared, ending })),
    // Begun second, it is in the same commit or a later one: no program that goes on ever finds its token ended.
    parts.tokens.end(environmentId(context)),
  ]);
  const lost = await closeEnvironment(context, reached);
  const ended = endingWithLoss(ending, lost);
  if (lost !== null) await context.journal.transaction((tx) => saveEnding(tx, context, { prepared, ending: ended }));
  parts.atKillPoint('environment-closed', name);
  const place = prepared?.place ?? null;
  const collected = prepared === null ? nothing : await collect(context, prepared);
  const remembered =
    prepared === null || context.intent.readOnly ? [] : await mergeMemory(parts, environmentDirectory(context), context.task.id);
  const notes = [...collected.notes, ...remembered, ...(prepared === null ? [] : await keep(context, prepared))];
  parts.atKillPoint('collected', name);
  endStage(context, row, { ...passed, note: notes.length === 0 ? null : notes.join('; ') });
  await recordVerdict(context, {
    claim,
    ending: context.keepPlace === true ? endingWithLoss(uncollected(place), lost) : ended,
    result: await resultOf(context, reached, collected),
  });
  parts.atKillPoint('settled', name);
  if (place !== null && prepared?.named === undefined && context.keepPlace !== true)
    await parts.workspace.release(place.checkoutId);
  await parts.removeEnvironment(environmentId(context));
  parts.atKillPoint('released', name);
};

/** Keeps the conversation, so that another task can continue it; says why not where it cannot be. */
const keep = async (context: AttemptContext, { settings, named }: Prepared): Promise<string[]> => {
  const { parts, task } = context;
  const store = parts.harness(settings.harness).conversations;
  const conversation = (await openAttempt(parts.store.read, task.id))?.conversation ?? null;
  if (store === null || conversation === null) return [];
  const home = join(parts.environmentsDirectory, named ?? environmentId(context), 'home');
  const why = await keepConversation(parts.conversationsDirectory, { taskId: task.id, home, store, conversation });
  return why === null ? [] : [why];
};

const collect = async (context: AttemptContext, { place, baseSha }: Prepared): Promise<Collected> =>
  context.keepPlace === true
    ? nothing
    : context.parts.workspace.collect({
        checkoutId: place.checkoutId,
        taskId: context.task.id,
        attempt: context.attempt.number,
        baseSha,
        message: commitMessage(context),
      });

/** The end of an attempt whose work could not be brought in: nothing of it is touched. */
const uncollected = (place: Prepared['place'] | null): Ending => ({
  verdict: 'failed',
  cause: 'workspace',
  reason: `What the agent left could not be collected; it is kept as it is${place === null ? '' : ` in ${place.path}`}. Look at the node's log.`,
});

/** What was asked, in one line, and which task did it. */
const commitMessage = ({ intent, task }: AttemptContext): string => {
  const [line = ''] = intent.prompt.trim().split('\n');
  const title = line.length <= MESSAGE_CHARS ? line : `${line.slice(0, MESSAGE_CHARS - 1)}…`;
  return `${title}\n\nOrrery-Task: ${task.id}\n`;
};

/** Closes what is open, and says what could not be brought back from it. */
const closeEnvironment = async (context: AttemptContext, { environment, prepared }: Reached): Promise<string | null> => {
  try {
    const open = environment ?? (await environmentLeft(context, prepared));
    return (await open?.close())?.lost ?? null;
  } catch (thrown) {
    // Tried again and again: what is in a place that stays out of reach is kept when it is found by a later start.
    const outOfReach = thrown instanceof OrreryError && ['backend_unreachable', 'backend_unavailable'].includes(thrown.code);
    if (context.keepPlace !== true || !outOfReach) throw thrown;
    return `${thrown.message} What was done there since it was brought back last is still there.`;
  }
};

/** The environment of an attempt that ended while it was being opened, or under an earlier start of the node; null when it is closed. */
const environmentLeft = async (context: AttemptContext, prepared: Prepared | null): Promise<Environment | null> => {
  const row = await findEnvironment(context.parts.store.read, environmentId(context));
  if (row === null || row.state === 'closed' || prepared === null) return null;
  try {
    return await findAgain(context, prepared, recordedEnvironment(row.spec).spec);
  } catch (thrown) {
    if (thrown instanceof OrreryError && thrown.code === 'not_found') return null;
    throw thrown;
  }
};

const resultOf = async (context: AttemptContext, reached: Reached, collected: Collected): Promise<TaskResult> => ({
  summary: await summaryOf(context, reached),
  output: await outputOf(context),
  goal: await goalOf(context),
  baseSha: reached.prepared?.baseSha ?? null,
  headSha: collected.headSha,
  resultRef: collected.resultRef,
  filesChanged: collected.filesChanged,
  insertions: collected.insertions,
  deletions: collected.deletions,
  commits: collected.commits,
  salvageRef: collected.salvageRef,
  validation: await lastValidation(context),
  usage: await context.parts.usageOf(context.task.id),
});

/** What the agent said last; a plain command says nothing of its own. */
const summaryOf = async ({ parts, task }: AttemptContext, { prepared }: Reached): Promise<string | null> => {
  if (prepared === null) return null;
  const { provider, declared } = parts.harness(prepared.settings.harness);
  if (provider === null && declared !== true) return null;
  const text = await lastText(parts.store.read, task.key);
  return text === null || text.length <= SUMMARY_CHARS ? text : `${text.slice(0, SUMMARY_CHARS - 1)}…`;
};

/** The last go through a stage, or nothing. */
const lastOf = async ({ parts, attempt }: Pick<AttemptContext, 'parts' | 'attempt'>, stage: StageName) =>
  (await stagesOf(parts.store.read, attempt.id))
    .filter((row) => row.name === stage)
    .toSorted((a, b) => a.round - b.round)
    .at(-1);

/** What the model said of the goal last, when it was asked in the end. */
const goalOf = async (context: AttemptContext): Promise<TaskResult['goal']> => {
  const last = await lastOf(context, 'goal');
  return last?.ended_at == null || !['passed', 'failed'].includes(last.state)
    ? null
    : { met: last.state === 'passed', reason: last.note ?? '' };
};

/** The answer of the last turn, when it passed its schema. */
const outputOf = async ({ parts, attempt }: AttemptContext): Promise<unknown> => {
  const last = await lastOf({ parts, attempt }, 'output');
  return last?.state === 'passed' && last.output !== null ? JSON.parse(last.output) : null;
};

/** The last word of the repository's own script in this attempt. */
const lastValidation = async (context: AttemptContext): Promise<TaskResult['validation']> => {
  const rows = (await stagesOf(context.parts.store.read, context.attempt.id)).filter(
    (row) => row.name === 'validate' && row.ended_at !== null && row.state !== 'skipped',
  );
  const last = rows.toSorted((a, b) => a.round - b.round).at(-1);
  if (last === undefined) return null;
  const output = last.output ?? '';
  return {
    passed: last.state === 'passed',
    exitCode: last.exit_code,
    timedOut: last.state === 'timeout',
    limit: limitIn(last.note),
    output,
    outputBytes: Buffer.byteLength(output),
  };
};

/** What the attempt says of the account that paid it. */
const noteAccount = async (
  { parts, task, attempt }: AttemptContext,
  tx: Tx,
  { ending: { verdict, cause }, nowMs }: { readonly ending: Ending; readonly nowMs: number },
): Promise<void> => {
  const account = accountFor(parts, task);
  if (account === null) return;
  const noted = { account, startedAt: attempt.started_at, nowMs };
  if (verdict === 'limit' && cause === null)
    return noteTurn(tx, { ...noted, outcome: 'limit', resetsAt: await lastReset(tx.db, task.key) });
  if (verdict === 'accepted' || verdict === 'rejected') await noteTurn(tx, { ...noted, outcome: 'success', resetsAt: null });
};

const recordVerdict = async (
  context: AttemptContext,
  end: {
    readonly claim: Claim;
    readonly ending: Ending;
    readonly result: TaskResult;
  },
): Promise<void> => {
  const { clock } = context.parts;
  const { task, attempt } = context;
  const { verdict, cause, reason } = end.ending;
  const nowMs = clock.nowMs();
  await context.journal.transaction(async (tx) => {
    await dequeue(tx.db, task.id, end.claim);
    if (task.environment_id !== null) await context.parts.named.giveBack(tx, task.environment_id, task.id);
    await updateAttempt(tx.db, attempt.id, { verdict, cause, reason, ended_at: nowMs });
    await interruptStages(tx.db, { attemptId: attempt.id, nowMs });
    await endLostRuns(tx.db, { attemptId: attempt.id, nowMs });
    await updateTask(tx.db, task.id, {
      state: verdict satisfies TaskState,
      verdict,
      cause,
      reason,
      result: JSON.stringify(end.result),
      cancel_requested: 0,
      ended_at: nowMs,
    });
    if ((await findEnvironment(tx.db, environmentId(context))) !== null)
      await updateEnvironment(tx.db, environmentId(context), { state: 'closed', closed_at: nowMs });
    await tx.append([
      taskEvent(context, null, { kind: 'attempt.ended', attempt: attempt.number, verdict, cause, reason }),
      taskEvent(context, null, { kind: 'task.state', state: verdict, waitingFor: null }),
      taskEvent(context, null, {
        kind: 'task.ended',
        verdict,
        cause,
        reason,
        filesChanged: end.result.filesChanged,
        usage: end.result.usage,
      }),
    ]);
    await noteAccount(context, tx, { ending: end.ending, nowMs });
    await tellWaiting(tx, { taskId: task.id, verdict, nowMs });
  });
};
