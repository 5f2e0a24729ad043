import { OrreryError } from '@orrery/protocol/errors';
import { readPrompt, sendTask, taskRequest } from '../../task-request.ts';
import type { Command } from '../command.ts';
import { attachRun, requireTerminal } from './attach-run.ts';
import { watchRun } from './watch-run.ts';

/** `orrery run`: sends a task, watches it, ends with its verdict. */
export const run: Command = async (context) => {
  const { input } = context;
  const tui = input.flag('tui');
  const clipboard = input.flag('clipboard');
  if (clipboard && !tui) throw noScreen();
  if (tui && !input.flag('detach')) requireTerminal(context);
  const bare = tui && input.argument('prompt') === null && input.tail.length === 0;
  const prompt = bare ? '' : await readPrompt(context);
  const connection = await context.connectOrStart();
  const asked = await taskRequest(context, connection, prompt);
  const request = tui ? { ...asked, interactive: true } : asked;
  const task = await sendTask(context, connection, request);
  if (task.replayed) context.warn('The same request was sent before: this is its task.');
  if (input.flag('detach')) {
    const back = tui ? `  orrery task attach ${task.id}` : `  orrery task log ${task.id} --follow`;
    return { result: { task }, text: task.id, hints: [back, `  orrery task wait ${task.id}`] };
  }
  context.note(`  task ${task.id}: ${task.harness}${task.model === null ? '' : ` (${task.model})`} on ${task.backend}`);
  const wishes = { apply: input.flag('apply'), debug: input.flag('debug') };
  return tui
    ? attachRun(context, connection, { task, mode: 'take', wishes, clipboard })
    : watchRun(context, connection, { task, wishes });
};

const noScreen = (): OrreryError =>
  new OrreryError('invalid_input', 'Without its full screen nothing of an agent program reaches this terminal.', {
    rule: '--clipboard goes with --tui.',
    fix: 'orrery run --tui --clipboard',
  });
