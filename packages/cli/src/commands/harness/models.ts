import { inertLine } from '../../inert.ts';
import { pick } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { sourceText } from '../session/commands.ts';
import type { Command } from '../command.ts';

/** `orrery harness models`. */
export const harnessModels: Command = async (context) => {
  const { client } = await context.connect();
  const { items } = await client.call('harnessList');
  const { id } = pick(items, context.input.argument('harness') ?? '', {
    of: (one) => [one.id],
    noun: 'harness',
    fix: 'orrery harness list',
  });
  const reported = await client.call('harnessModels', { params: { id } });
  const source = sourceText(reported, context.world.now());
  if (reported.models.length === 0) return { result: reported, text: source };
  const rows = reported.models.map(({ id: model, name, efforts }) => [
    `  ${inertLine(model)}`,
    inertLine(name),
    efforts.length === 0 ? '-' : efforts.map(inertLine).join(', '),
  ]);
  return { result: reported, text: tableText(context.screen, ['  model', 'name', 'efforts'], rows), hints: [`  ${source}`] };
};
