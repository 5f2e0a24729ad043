import { taskIdOf } from '../../names.ts';
import { stateText } from '../../verdict-text.ts';
import type { Command } from '../command.ts';

/** `orrery task cancel`. */
export const taskCancel: Command = async (context) => {
  const connection = await context.connect();
  const id = await taskIdOf(connection, context.input.argument('task') ?? '');
  const task = await context.change({
    intent: { id },
    send: (requestId) => connection.client.call('taskCancel', { params: { id }, body: { requestId }, idempotencyKey: requestId }),
    resources: () => [id],
  });
  const over = task.state === 'cancelled';
  return {
    result: { task },
    text: over
      ? `${stateText(context.screen, task.state)}  ${task.id}`
      : `  ${task.id} is ${task.state}; every process of it is being ended.`,
    hints: [`  orrery task wait ${task.id}`],
  };
};
