import type { EventBody } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { errorFields, type Log } from '../kernel/log.ts';
import type { NewEvent, Store } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import type { Refused } from './egress-proxy.ts';
import { EGRESS_REFUSALS_TOLD } from './limits.ts';
import { createRemembered } from './remembered.ts';

/** An event of a task's egress; of the node where the environment belongs to no task. */
export const egressEvent = async (db: Kysely<Tables>, taskId: string, body: EventBody): Promise<NewEvent> => {
  const task = await db.selectFrom('task').select('id').where('id', '=', taskId).executeTakeFirst();
  return { taskId: task?.id ?? null, turn: null, body };
};

/** The log of a task names the hosts that it was refused, so that a person sees what it lacked. */
export const tellRefusals = ({ store, log }: { readonly store: Store; readonly log: Log }): ((refused: Refused) => void) => {
  const told = createRemembered<number>();
  const append = async ({ taskId, ...refused }: Refused): Promise<void> => {
    await store.append([await egressEvent(store.read, taskId, { kind: 'egress.refused', ...refused })]);
  };
  return (refused) => {
    const count = told.get(refused.taskId) ?? 0;
    if (count >= EGRESS_REFUSALS_TOLD) return;
    told.set(refused.taskId, count + 1);
    append(refused).catch((thrown: unknown) => log.error('broker.event.unwritten', errorFields(thrown)));
  };
};
