import { readPrompt, sendTask, taskRequest } from '../../task-request.ts';
import type { Command } from '../command.ts';
import { watchRun } from './watch-run.ts';

/** `orrery run`: sends a task, watches it, ends with its verdict. */
export const run: Command = async (context) => {
  const { input } = context;
  const prompt = await readPrompt(context);
  const connection = await context.connectOrStart();
  const request = await taskRequest(context, connection, prompt);
  const task = await sendTask(context, connection, request);
  if (task.replayed) context.warn('The same request was sent before: this is its task.');
  if (input.flag('detach')) {
    return { result: { task }, text: task.id, hints: [`  orrery task log ${task.id} --follow`, `  orrery task wait ${task.id}`] };
  }
  context.note(`  task ${task.id}: ${task.harness}${task.model === null ? '' : ` (${task.model})`} on ${task.backend}`);
  return watchRun(context, connection, { task, wishes: { apply: input.flag('apply'), debug: input.flag('debug') } });
};
