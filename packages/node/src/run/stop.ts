// Ends a program that is asked to, and then is not asked any more.

import type { Handle } from '../exec/backend.ts';
import { TERMINATE_GRACE_MS } from '../kernel/limits.ts';
import type { AttemptContext } from './attempt-context.ts';

/** Asks a program to end, and then takes its whole tree. `over`: it has ended. */
export const stopProgram = async (context: AttemptContext, handle: Handle, over: AbortSignal): Promise<void> => {
  await handle.terminate();
  await context.parts.clock.sleep(TERMINATE_GRACE_MS, over).catch(() => undefined);
  if (!over.aborted) await handle.kill();
};

/** A cancel asks the program to end and then takes its whole tree; a stop of the node only lets go of the view. */
export const watchSignals = (context: AttemptContext, handle: Handle): (() => void) => {
  const over = new AbortController();
  const onCancel = (): void => {
    stopProgram(context, handle, over.signal).catch((thrown: unknown) =>
      context.parts.log.warn('run.stop.failed', { task: context.task.id, error: String((thrown as Error).name) }),
    );
  };
  const onDetach = (): void => handle.detach();
  if (context.cancelled.aborted) onCancel();
  if (context.detached.aborted) onDetach();
  context.cancelled.addEventListener('abort', onCancel);
  context.detached.addEventListener('abort', onDetach);
  return () => {
    over.abort();
    context.cancelled.removeEventListener('abort', onCancel);
    context.detached.removeEventListener('abort', onDetach);
  };
};
