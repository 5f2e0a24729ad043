import { taskIdOf } from '../../names.ts';
import { verdictText } from '../../verdict-text.ts';
import { failureOfTask, stopWatching, watchTask } from '../../watch.ts';
import { endOfTask } from '../../exit.ts';
import type { Command } from '../command.ts';

/** `orrery task wait`: ends like `run`. */
export const taskWait: Command = async (context) => {
  const connection = await context.connect();
  const id = await taskIdOf(connection, context.input.argument('task') ?? '');
  const now = await connection.client.call('taskShow', { params: { id } });
  const timeout = context.input.number('timeout');
  const watched =
    endOfTask(now) !== null
      ? { task: now, stopped: null }
      : await watchTask(context, connection, {
          id,
          onEvent: () => undefined,
          ...(timeout === null ? {} : { deadlineMs: timeout }),
        });
  if (watched.stopped !== null) return stopWatching(context, connection, watched);
  const failure = failureOfTask(watched.task);
  return {
    result: { task: watched.task },
    text: verdictText(context.screen, watched.task, null),
    ...(failure === undefined ? {} : { failure }),
  };
};
