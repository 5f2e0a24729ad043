import { inertLine } from '../../inert.ts';
import { allItems, projectOf } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { diskText, goesText, stateText } from './show.ts';

/** `orrery env list`. */
export const envList: Command = async (context) => {
  const connection = await context.connect();
  const named = context.input.text('project');
  const project = named === null ? undefined : (await projectOf(connection, named, context.world.cwd)).id;
  const items = await allItems((cursor) =>
    connection.client.call('environmentList', { query: { limit: 200, cursor, ...(project === undefined ? {} : { project }) } }),
  );
  if (items.length === 0)
    return { result: { items }, text: 'There is no environment of its own yet. In a repository: orrery env create' };
  const goes = items.some(({ goesAt }) => goesAt !== null);
  const rows = items.map((environment) => [
    inertLine(environment.name),
    stateText(environment),
    inertLine(environment.project.name),
    environment.backend,
    diskText(environment),
    agoText(environment.usedAt, context.world.now()),
    ...(goes ? [goesText(environment, context.world.now())] : []),
  ]);
  return {
    result: { items },
    text: tableText(
      context.screen,
      ['environment', 'state', 'project', 'backend', 'disk', 'used', ...(goes ? ['goes'] : [])],
      rows,
    ),
  };
};
