import { inertLine } from '../../inert.ts';
import { projectOf } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { agoText, bytesText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage list`. */
export const salvageList: Command = async (context) => {
  const connection = await context.connect();
  const named = context.input.text('project');
  const project = named === null ? undefined : (await projectOf(connection, named, context.world.cwd)).id;
  const page = await connection.client.call('salvageList', { query: { limit: 200, project } });
  if (page.items.length === 0)
    return {
      result: page,
      text: 'Nothing had to be saved. When something unsaved would be lost it is kept here; tasks are in: orrery task list',
    };
  const rows = page.items.map((one) => [
    one.id,
    inertLine(one.projectName),
    one.kind === 'archive' ? bytesText(one.bytes ?? 0) : String(one.files ?? '-'),
    agoText(one.createdAt, context.world.now()),
    inertLine(one.reason),
  ]);
  return {
    result: page,
    text: tableText(context.screen, ['salvage', 'project', 'files', 'saved', 'why'], rows),
    hints: [
      `  orrery salvage show ${page.items[0]?.id ?? ''}`,
      ...(page.nextCursor === null ? [] : ['  There are more than 200: narrow them with --project.']),
    ],
  };
};
