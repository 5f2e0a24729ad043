import { taskIdOf } from '../../names.ts';
import { stateText } from '../../verdict-text.ts';
import type { Command } from '../command.ts';

/** `orrery task retry`. */
export const taskRetry: Command = async (context) => {
  const connection = await context.connect();
  const id = await taskIdOf(connection, context.input.argument('task') ?? '');
  const task = await context.change({
    intent: { id },
    send: (requestId) => connection.client.call('taskRetry', { params: { id }, body: { requestId }, idempotencyKey: requestId }),
    resources: () => [id],
  });
  return {
    result: { task },
    text: `${stateText(context.screen, task.state)}  ${task.id}`,
    hints: [`  orrery task log ${task.id} --follow`],
  };
};
