import type { Tx } from '../store/store.ts';
import { findTask, updateTask } from '../task/index.ts';
import { taskEvent, type AttemptContext } from './attempt-context.ts';

/** The task waits for something, or goes on. */
export const writeWaiting = async (tx: Tx, context: AttemptContext, waitingFor: string | null): Promise<void> => {
  const state = waitingFor === null ? 'running' : 'waiting';
  const task = await findTask(tx.db, context.task.id);
  if (task?.waiting_for === waitingFor) return;
  // From one wait to another it stays where it is.
  await updateTask(tx.db, context.task.id, { ...(task?.state === state ? {} : { state }), waiting_for: waitingFor });
  await tx.append([taskEvent(context, null, { kind: 'task.state', state, waitingFor })]);
};
