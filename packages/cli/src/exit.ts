import type { Task } from '@orrery/protocol';
import { errorCatalogue, type ErrorCode } from '@orrery/protocol/errors';

/** One row of the exit table. */
export type Exit = { readonly code: number; readonly meaning: string };

/** What each exit code says. Help, man page and documentation print this table; the catalogue of errors uses its numbers. */
export const exits = [
  { code: 0, meaning: 'done (nothing found is done)' },
  { code: 1, meaning: 'failed' },
  { code: 2, meaning: 'usage: the command line is wrong' },
  { code: 3, meaning: 'not found' },
  { code: 4, meaning: 'connection, login or identity' },
  { code: 5, meaning: 'deadline' },
  { code: 6, meaning: 'a person must answer' },
  { code: 7, meaning: 'outcome unknown' },
  { code: 8, meaning: 'conflict, stale, busy or unsupported' },
  { code: 9, meaning: 'result rejected by validation' },
  { code: 10, meaning: 'refused by policy, limit or budget' },
  { code: 130, meaning: 'stopped watching (Ctrl-C)' },
  { code: 143, meaning: 'stopped watching (terminated)' },
] as const satisfies readonly Exit[];

export type ExitCode = (typeof exits)[number]['code'];

/** The exit code of a failure. */
export const exitOfError = (code: ErrorCode): number => errorCatalogue[code].exit;

/** How a task that is over, or waits for a person, ends `run` and `task wait`; null while it goes on. */
export type TaskEnd = { readonly exit: ExitCode; readonly code: ErrorCode | null };

/** Reads the end of a task from its state and cause. `done` has no error code. */
export const endOfTask = (task: Pick<Task, 'state' | 'cause' | 'waitingFor'>): TaskEnd | null => {
  switch (task.state) {
    case 'accepted':
      return { exit: 0, code: null };
    case 'rejected':
      return { exit: 9, code: 'rejected' };
    case 'limit':
      return { exit: 10, code: 'limit_reached' };
    case 'cancelled':
    case 'interrupted':
      return { exit: 1, code: 'agent_failed' };
    case 'failed':
      return endOfFailure(task.cause);
    case 'waiting':
      return waitsForPerson(task.waitingFor) ? { exit: 6, code: 'interaction_required' } : null;
    default:
      return null;
  }
};

const endOfFailure = (cause: string | null): TaskEnd => {
  if (cause === 'timeout') return { exit: 5, code: 'deadline' };
  if (cause === 'budget') return { exit: 10, code: 'budget_exhausted' };
  if (cause === 'backend') return { exit: 1, code: 'backend_unavailable' };
  if (cause?.startsWith('hook:') === true) return { exit: 1, code: 'hook_failed' };
  return { exit: 1, code: 'agent_failed' };
};

/** A wait for a person is worded so by the node ("a person …"); every other wait ends by itself. */
const waitsForPerson = (waitingFor: string | null): boolean => waitingFor !== null && /^(a|one) person\b/i.test(waitingFor);
