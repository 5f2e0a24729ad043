import { OrreryError } from '@orrery/protocol/errors';
import type { OrreryEvent } from '@orrery/protocol';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { withDeadline } from '../../kernel/deadline.ts';
import { STORE_TRANSACTION_MS } from '../../kernel/limits.ts';
import type { Tx } from '../store.ts';
import { toAppendRows, toEvents } from './event-rows.ts';
import { fromFault } from './faults.ts';
import type { Request, Result } from './messages.ts';
import { remoteKysely } from './remote-dialect.ts';
import type { WriterPipe } from './writer-pipe.ts';

/** How a job ended before its group is committed. */
export type JobEnd =
  | { readonly ok: true; readonly value: unknown; readonly events: readonly OrreryEvent[] }
  | { readonly ok: false; readonly error: unknown };

const closedError = (): OrreryError => new OrreryError('internal', 'A transaction was used after its job had ended.');

/** Throws the error of a failed result; answers any other. */
export const checked = (result: Result): Exclude<Result, { kind: 'failed' }> => {
  if (result.kind === 'failed') throw fromFault(result.fault);
  return result;
};

/** Makes the transaction of one job: what it wrote, and the way to close it to stragglers. */
const openTx = (pipe: WriterPipe, clock: Clock) => {
  const appended: OrreryEvent[] = [];
  let open = true;
  const one = async (request: Request): Promise<Exclude<Result, { kind: 'failed' }>> => {
    if (!open) throw closedError();
    return checked(await pipe.send(request));
  };
  const tx: Tx = {
    db: remoteKysely(async (sql, parameters) => {
      const result = await one({ kind: 'sql', sql, parameters });
      if (result.kind !== 'rows') throw new OrreryError('internal', 'The writer gave the wrong answer.');
      return result;
    }),
    append: async (events) => {
      const nowMs = clock.nowMs();
      const result = await one({ kind: 'append', parts: [toAppendRows(events, nowMs)] });
      const numbers = result.kind === 'appended' ? result.parts[0] : undefined;
      if (numbers === undefined) throw new OrreryError('internal', 'The writer gave the wrong answer.');
      if ('sqlite' in numbers) throw fromFault(numbers);
      const stored = toEvents({ events, numbers, nowMs });
      appended.push(...stored);
      return stored;
    },
  };
  return {
    tx,
    appended,
    close: () => {
      open = false;
    },
  };
};

// The machine's own clock ends a job that hangs, whatever clock the instants come from: the writer is shared by all.

/** Runs one job in its savepoint of the group that is open. Never rejects: what the job did wrong is in the answer. */
export const runJob = async (
  job: (tx: Tx) => Promise<unknown>,
  { pipe, clock }: { pipe: WriterPipe; clock: Clock },
): Promise<JobEnd> => {
  const { tx, appended, close } = openTx(pipe, clock);
  pipe.later({ kind: 'savepoint' });
  try {
    const value = await withDeadline({ name: 'store transaction', ms: STORE_TRANSACTION_MS }, systemClock, () => job(tx));
    pipe.later({ kind: 'release' });
    return { ok: true, value, events: appended };
  } catch (error) {
    pipe.later({ kind: 'rollbackTo' });
    return { ok: false, error };
  } finally {
    close();
  }
};
