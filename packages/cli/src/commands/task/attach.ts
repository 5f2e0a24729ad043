import { OrreryError } from '@orrery/protocol/errors';
import { taskIdOf } from '../../names.ts';
import type { Command } from '../command.ts';
import { attachRun, requireTerminal } from '../run/attach-run.ts';

/** `orrery task attach`: the full screen of a task, again. */
export const taskAttach: Command = async (context) => {
  const { input } = context;
  const watch = input.flag('watch');
  requireTerminal(context);
  const connection = await context.connect();
  const id = await taskIdOf(connection, input.argument('task') ?? '');
  const task = await connection.client.call('taskShow', { params: { id } });
  if (!task.interactive)
    throw new OrreryError('unsupported', `Task ${task.id} has no full screen.`, {
      rule: 'Tasks begun with run --tui have one; of the others there is a log, and a shell beside the agent.',
      fix: `orrery task log ${task.id} --follow`,
    });
  const mode = watch ? 'watch' : input.flag('take') ? 'take' : 'join';
  return attachRun(context, connection, {
    task,
    mode,
    clipboard: input.flag('clipboard'),
    wishes: { apply: false, debug: false },
  });
};
