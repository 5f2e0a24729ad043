import { inert } from '../../inert.ts';
import { taskIdOf } from '../../names.ts';
import type { Screen } from '../../screen.ts';
import { filesText } from '../../verdict-text.ts';
import type { Command, CommandContext } from '../command.ts';

/** A patch with its lines coloured; without colours every byte stays as it is. */
export const paintPatch = (screen: Screen, patch: string): string =>
  patch
    .split('\n')
    .map((line) => {
      if (/^(diff|index|---|\+\+\+) /.test(line)) return screen.bold(inert(line));
      if (line.startsWith('@@')) return screen.dim(inert(line));
      if (line.startsWith('+')) return screen.added(inert(line));
      return line.startsWith('-') ? screen.removed(inert(line)) : inert(line);
    })
    .join('\n');

const pagerOf = ({ world, input, mode }: CommandContext): string | null => {
  if (mode !== 'human' || !world.stdout.isTTY || world.env['TERM'] === 'dumb' || input.flag('no-pager')) return null;
  const pager = world.env['ORRERY_PAGER'] ?? world.env['GIT_PAGER'] ?? world.env['PAGER'] ?? 'less';
  return pager === '' || pager === 'cat' ? null : pager;
};

/** `orrery task diff`: on a terminal coloured and through a pager; in a pipe the patch byte for byte. */
export const taskDiff: Command = async (context) => {
  const connection = await context.connect();
  const id = await taskIdOf(connection, context.input.argument('task') ?? '');
  const diff = await connection.client.call('taskDiff', { params: { id } });
  if (diff.files.length === 0)
    return {
      result: diff,
      text: context.world.stdout.isTTY ? 'It changed no files.' : null,
      hints: context.world.stdout.isTTY ? [] : ['  It changed no files.'],
    };
  if (diff.truncated)
    context.warn(
      `The patch is longer than what is shown; the whole result is in the repository after: orrery task apply ${id} --mode branch`,
    );
  if (context.input.flag('stat'))
    return { result: diff, text: filesText(context.screen, diff.files, diff.files.length).join('\n') };
  // What prints it ends it with a line feed.
  const patch = diff.patch.replace(/\n$/, '');
  const text = context.world.stdout.isTTY ? paintPatch(context.screen, patch) : patch;
  const pager = pagerOf(context);
  if (pager !== null && (await context.world.processes.page(pager, text))) return { result: diff };
  return { result: diff, text };
};
