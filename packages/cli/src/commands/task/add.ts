import { readPrompt, sendTask, taskRequest } from '../../task-request.ts';
import type { Command } from '../command.ts';

/** `orrery task add`: queues a task; its id is the output. */
export const taskAdd: Command = async (context) => {
  const prompt = await readPrompt(context);
  const connection = await context.connect();
  const task = await sendTask(context, connection, await taskRequest(context, connection, prompt));
  if (task.replayed) context.warn('The same request was sent before: this is its task.');
  return { result: { task }, text: task.id, hints: [`  orrery task wait ${task.id}`, `  orrery task log ${task.id} --follow`] };
};
