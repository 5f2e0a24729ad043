// Turns what a person types for a thing into its id.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Project } from '@orrery/protocol';
import { closest, OrreryError } from '@orrery/protocol/errors';
import { isId } from '@orrery/protocol/ids';
import type { Connection } from './connect.ts';

/** Pages that are looked through for a name. */
const PAGES = 20;

/** All items of a list, up to `PAGES` pages; more is refused, not left out. */
export const allItems = async <Item>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
): Promise<Item[]> => {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < PAGES; count++) {
    const answer = await page(cursor);
    items.push(...answer.items);
    if (answer.nextCursor === null) return items;
    cursor = answer.nextCursor;
  }
  throw new OrreryError('limit_reached', 'The list is too long to be looked through.', {
    rule: `At most ${PAGES} pages are read for a name.`,
    fix: 'Give the whole id.',
  });
};

export const allProjects = ({ client }: Connection): Promise<Project[]> =>
  allItems((cursor) => client.call('projectList', { query: { limit: 200, cursor } }));

/** The id of a task: whole, its unique beginning, or `last` for the newest. */
export const taskIdOf = async ({ client }: Connection, given: string): Promise<string> => {
  if (isId('task', given)) return given;
  const { items } = await client.call('taskList', { query: { limit: given === 'last' ? 1 : 200 } });
  if (given === 'last') return items[0]?.id ?? refuseTask('There is no task yet.', 'orrery run "fix the failing test"');
  const found = items.filter(({ id }) => id === given || (given.length >= 4 && id.startsWith(given)));
  if (found.length > 1)
    throw new OrreryError('ambiguous', 'Several tasks begin like that.', {
      rule: `They are ${found
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}.`,
      fix: 'Give more of the id: orrery task list',
    });
  return found[0]?.id ?? refuseTask('There is no task of that id.', 'orrery task list');
};

/** What the node takes for an open environment: its id or name as they are, and the id of a task, which may be typed in part. */
export const placeIdOf = async (connection: Connection, given: string): Promise<string> =>
  given === 'last' || given.startsWith('tsk_') ? taskIdOf(connection, given) : given;

const refuseTask = (message: string, fix: string): never => {
  throw new OrreryError('not_found', message, { rule: 'A task is named by its id, the beginning of one, or last.', fix });
};

/** The project of an id, a name or a path. */
export const projectOf = async (connection: Connection, given: string, cwd: string): Promise<Project> => {
  const projects = await allProjects(connection);
  const path = realPath(resolve(cwd, given));
  const found =
    projects.find(({ id }) => id === given) ??
    projects.find(({ name }) => name === given) ??
    projects.find(({ source }) => source === given || source === path);
  if (found !== undefined) return found;
  const guess = closest(
    given,
    projects.map(({ name }) => name),
  );
  throw new OrreryError('not_found', 'There is no such project.', {
    rule: guess === null ? 'A project is named by its id, name or path.' : `Did you mean "${guess}"?`,
    fix: guess === null ? 'orrery project list' : `orrery project show ${guess}`,
  });
};

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** The root of the repository that a folder is in, with links resolved; null when it is in none. */
export const repositoryRoot = (folder: string): string | null => {
  for (let place = realPath(folder); ; place = dirname(place)) {
    if (existsSync(join(place, '.git'))) return place;
    if (dirname(place) === place) return null;
  }
};

/** One item of a short list by its id or name, else `not_found` with the nearest. */
export const pick = <Item>(
  items: readonly Item[],
  given: string,
  names: { readonly of: (item: Item) => readonly string[]; readonly noun: string; readonly fix: string },
): Item => {
  const found = items.find((item) => names.of(item).includes(given));
  if (found !== undefined) return found;
  const guess = closest(
    given,
    items.flatMap((item) => names.of(item)),
  );
  throw new OrreryError('not_found', `There is no such ${names.noun}.`, {
    rule: guess === null ? `They are listed by: ${names.fix}` : `Did you mean "${guess}"?`,
    fix: names.fix,
  });
};
