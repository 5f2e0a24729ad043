import { inertLine } from '../../inert.ts';
import { projectOf } from '../../names.ts';
import { tableText } from '../../screen.ts';
import type { Command } from '../command.ts';

const longestValue = 60;

/** `orrery config list`. */
export const configList: Command = async (context) => {
  const { input, screen, world } = context;
  const connection = await context.connect();
  const named = input.text('project');
  const project = named === null ? undefined : (await projectOf(connection, named, world.cwd)).source;
  const answer = await connection.client.call('configList', { query: { project } });
  const items = input.flag('set') ? answer.items.filter(({ origin }) => origin !== 'default') : answer.items;
  const result = { ...answer, items };
  const problem = (answer.problem ?? []).map((line) => `! ${inertLine(line)}`);
  if (items.length === 0)
    return {
      result,
      text: [...problem, `Everything is as it is by default; ${inertLine(answer.file)} says nothing.`].join('\n'),
    };
  const rows = items.map(({ key, value, origin }) => [key, shortened(value), inertLine(origin)]);
  return {
    result,
    text: [...problem, tableText(screen, ['key', 'value', 'from'], rows)].join('\n'),
    hints: ['  What one is, and what it shadows: orrery config explain KEY'],
  };
};

const shortened = (value: unknown): string => {
  const text = inertLine(JSON.stringify(value));
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text;
};
