// Which of the operator's own programs have shown that they work.

import type { Store } from '../store/store.ts';

/** Whether a turn of this harness ended well here: of a task, or of a session. */
export const hasWorked = async ({ read }: Pick<Store, 'read'>, harness: string): Promise<boolean> => {
  const inTask = await read
    .selectFrom('task')
    .innerJoin('attempt', 'attempt.task_id', 'task.id')
    .innerJoin('stage', 'stage.attempt_id', 'attempt.id')
    .select('task.id')
    .where('task.harness', '=', harness)
    .where('stage.name', '=', 'drive')
    .where('stage.state', '=', 'passed')
    .limit(1)
    .executeTakeFirst();
  if (inTask !== undefined) return true;
  const inSession = await read
    .selectFrom('session')
    .innerJoin('turn', 'turn.session_id', 'session.id')
    .select('session.id')
    .where('session.harness', '=', harness)
    .where('turn.outcome', '=', 'success')
    .limit(1)
    .executeTakeFirst();
  return inSession !== undefined;
};
