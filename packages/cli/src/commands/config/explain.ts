import { projectOf } from '../../names.ts';
import { factsText } from '../../screen.ts';
import { inertLine } from '../../inert.ts';
import type { Command } from '../command.ts';

const valueText = (value: unknown): string => inertLine(value === undefined ? 'not set' : JSON.stringify(value));

/** `orrery config explain`. */
export const configExplain: Command = async (context) => {
  const { input } = context;
  const connection = await context.connect();
  const named = input.text('project');
  const project = named === null ? undefined : (await projectOf(connection, named, context.world.cwd)).source;
  const answer = await connection.client.call('configExplain', { query: { key: input.argument('key') ?? '', project } });
  const text = factsText(context.screen, [
    ['key', answer.key],
    ['value', valueText(answer.value)],
    ['from', inertLine(answer.origin)],
    ...answer.shadows.map(({ origin, value }) => ['shadows', `${valueText(value)} from ${inertLine(origin)}`] as const),
    ['what it is', inertLine(answer.description)],
    ['changes', answer.restart ? 'after the next start' : 'at once'],
  ]);
  return { result: answer, text };
};
