import { OrreryError } from '@orrery/protocol/errors';
import type { OrreryEvent } from '@orrery/protocol';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { withDeadline } from '../../kernel/deadline.ts';
import { STORE_TRANSACTION_MS } from '../../kernel/limits.ts';
import type { Tx } from '../store.ts';
import { toAppendRows, toEvents } from './event-rows.ts';
import { fromFault } from './faults.ts';
import type { Result } from './messages.ts';
import { remoteKysely } from './remote-dialect.ts';
import type { WriterPort } from './writer-port.ts';

/** How a job ended before its group is committed. */
export type JobEnd = { readonly ok: true; readonly value: unknown; readonly events: readonly OrreryEvent[] } | { readonly ok: false; readonly error: unknown };

const closedError = (): OrreryError => new OrreryError('internal', 'A transaction was used after its job had ended.');

/** Throws the error of a failed result; answers any other. */
export const checked = (result: Result | undefined): Exclude<Result, { kind: 'failed' }> => {
  if (result === undefined) throw new OrreryError('internal', 'The writer gave no answer.');
  if (result.kind === 'failed') throw fromFault(result.fault);
  return result;
};

/** Makes the transaction of one job: what it wrote, and the way to close it to stragglers. */
const openTx = (writer: WriterPort, clock: Clock) => {
  const appended: OrreryEvent[] = [];
  let open = true;
  const one = async (request: Parameters<WriterPort['send']>[0][number]): Promise<Exclude<Result, { kind: 'failed' }>> => {
    if (!open) throw closedError();
    return checked((await writer.send([request]))[0]);
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

/** Runs one job in its savepoint of the group that is open. Never rejects for what the job did; a lost writer rejects. */
export const runJob = async (job: (tx: Tx) => Promise<unknown>, { writer, clock }: { writer: WriterPort; clock: Clock }): Promise<JobEnd> => {
  const { tx, appended, close } = openTx(writer, clock);
  const [begun] = await writer.send([{ kind: 'savepoint' }]);
  if (begun?.kind === 'failed') return { ok: false, error: fromFault(begun.fault) };
  try {
    const value = await withDeadline({ name: 'store transaction', ms: STORE_TRANSACTION_MS }, systemClock, () => job(tx));
    close();
    checked((await writer.send([{ kind: 'release' }]))[0]);
    return { ok: true, value, events: appended };
  } catch (error) {
    close();
    await writer.send([{ kind: 'rollbackTo' }]);
    return { ok: false, error };
  }
};
