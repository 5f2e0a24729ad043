import { type Ending, findTask } from '../task/index.ts';
import type { Claim } from '../queue/index.ts';
import { loadEnding, loadPrepared, type AttemptContext, type OpenAttempt } from './attempt-context.ts';
import { checkTurn } from './checks.ts';
import { underDiskLimit } from './disk-watch.ts';
import { acceptedEnding, AttemptEnded, cancelledEnding, Detached, endingOf } from './ending.ts';
import { createJournal } from './journal.ts';
import { drive } from './stages/drive.ts';
import { requireHook } from './stages/hook.ts';
import { initialise } from './stages/init.ts';
import { open } from './stages/open.ts';
import { prepare } from './stages/prepare.ts';
import { driveScreen } from './stages/screen.ts';
import { settle, type Reached } from './stages/settle.ts';

/**
 * Conducts one attempt from where it is to its end: prepare ▸ open ▸ init ▸ before ▸ (drive ▸ checks)… ▸ after ▸ settle.
 * Each stage that an earlier start of the node finished is passed over; one that was running goes on. Rejects only with
 * `Detached`, or when the end itself could not be recorded.
 */
export const conductAttempt = async (given: Omit<AttemptContext, 'journal'>, claim: Claim): Promise<void> => {
  const context: AttemptContext = { ...given, journal: createJournal(given.parts.store) };
  let reached: Reached = { prepared: loadPrepared(context), environment: null };
  const decided = loadEnding(context);
  if (decided !== null) {
    context.known();
    return settle(context, claim, { ending: decided, reached });
  }
  let ending: Ending;
  try {
    const prepared = await prepare(context);
    reached = { ...reached, prepared };
    const opened = await open(context, prepared);
    reached = { ...reached, environment: opened.environment };
    ending = await underDiskLimit(opened, work);
  } catch (thrown) {
    if (thrown instanceof Detached || context.detached.aborted) throw new Detached();
    if (!(thrown instanceof AttemptEnded))
      context.parts.log.error('attempt.failed', { task: context.task.id, error: (thrown as Error).name, place: placeOf(thrown) });
    ending = endingOf(thrown, 'infrastructure');
  } finally {
    context.known();
  }
  await settle(context, claim, { ending: await honourCancel(context, ending), reached });
};

const work = async (open: OpenAttempt): Promise<Ending> => {
  await initialise(open);
  await requireHook(open, 'before');
  const ending = await driveUntilValid(open);
  if (ending.verdict === 'accepted' || ending.verdict === 'rejected') await requireHook(open, 'after');
  return ending;
};

const driveUntilValid = async (open: OpenAttempt): Promise<Ending> => {
  // Whom a person works with is not sent back: the person reads what the script said.
  const interactive = open.intent.interactive === true;
  const maxRetries = interactive ? 0 : open.prepared.settings.maxRetries;
  let { prompt } = open.intent;
  for (let round = 1; ; round++) {
    const ending = await (interactive ? driveScreen(open, prompt) : drive(open, round, prompt));
    if (ending !== null) return ending;
    const failed = await checkTurn(open, round);
    if (failed === null) return acceptedEnding;
    if (round > maxRetries) return failed.ending;
    prompt = failed.prompt;
  }
};

/** A cancel that came while the attempt was ending otherwise still counts, unless the work was already accepted. */
const honourCancel = async (context: AttemptContext, ending: Ending): Promise<Ending> => {
  if (ending.verdict === 'accepted' || ending.verdict === 'cancelled') return ending;
  const task = await findTask(context.parts.store.read, context.task.id);
  return task?.cancel_requested === 1 || context.cancelled.aborted ? cancelledEnding : ending;
};

const placeOf = (thrown: unknown): string | null =>
  thrown instanceof Error ? (/\n\s+at (.*)/.exec(thrown.stack ?? '')?.[1] ?? null) : null;
