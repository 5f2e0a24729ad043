import { inertLine } from '../../inert.ts';
import type { Connection } from '../../connect.ts';
import { repositoryRoot, taskIdOf } from '../../names.ts';
import { shellWord } from '../../wording.ts';
import type { Command, CommandContext } from '../command.ts';

/** `orrery task apply`. */
export const taskApply: Command = async (context) => {
  const { input, screen } = context;
  const connection = await context.connect();
  const id = await taskIdOf(connection, input.argument('task') ?? '');
  const branch = input.text('branch');
  const mode = input.text('mode') === 'branch' ? ('branch' as const) : ('tree' as const);
  const without = input.list('without').map((path) => ({ path }));
  const body = { mode, ...(branch === null ? {} : { branch }), ...(without.length === 0 ? {} : { without }) };
  const applied = await context.change({
    intent: { id, ...body },
    send: () => connection.client.call('taskApply', { params: { id }, body, timeoutMs: 120_000 }),
    resources: () => [id],
  });
  const git = applied.branch === null ? '' : await gitOf(context, connection, id);
  const where = applied.branch === null ? '' : `  branch ${inertLine(applied.branch)}`;
  return {
    result: applied,
    text: `${screen.good('✓')} ${applied.headSha.slice(0, 10)}${where}\n  ${inertLine(applied.note)}`,
    hints: applied.treeUpdated
      ? [`  ${git} log -1 --stat`]
      : applied.branch === null
        ? []
        : [`  ${git} switch ${shellWord(applied.branch)}`],
  };
};

/** `git` for the repository of a task: named when the current folder is not in it. */
const gitOf = async ({ world }: CommandContext, { client }: Connection, id: string): Promise<string> => {
  const { project } = await client.call('taskShow', { params: { id } });
  return project === null || project.path === '' || repositoryRoot(world.cwd) === project.path
    ? 'git'
    : `git -C ${shellWord(inertLine(project.path))}`;
};
