import { inertLine } from '../../inert.ts';
import { taskIdOf } from '../../names.ts';
import type { Command } from '../command.ts';

/** `orrery task apply`. */
export const taskApply: Command = async (context) => {
  const { input, screen } = context;
  const connection = await context.connect();
  const id = await taskIdOf(connection, input.argument('task') ?? '');
  const branch = input.text('branch');
  const mode = input.text('mode') === 'branch' ? ('branch' as const) : ('tree' as const);
  const body = { mode, ...(branch === null ? {} : { branch }) };
  const applied = await context.change({
    intent: { id, ...body },
    send: () => connection.client.call('taskApply', { params: { id }, body, timeoutMs: 120_000 }),
    resources: () => [id],
  });
  const where = applied.branch === null ? '' : `  branch ${inertLine(applied.branch)}`;
  return {
    result: applied,
    text: `${screen.good('✓')} ${applied.headSha.slice(0, 10)}${where}\n  ${inertLine(applied.note)}`,
    hints: applied.treeUpdated ? ['  git log -1 --stat'] : applied.branch === null ? [] : [`  git switch ${applied.branch}`],
  };
};
