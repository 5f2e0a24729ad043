import { inertLine } from '../../inert.ts';
import { factsText } from '../../screen.ts';
import { agoText, countText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage show`. */
export const salvageShow: Command = async (context) => {
  const { client } = await context.connect();
  const one = await client.call('salvageShow', { params: { id: context.input.argument('salvage') ?? '' } });
  const facts = factsText(context.screen, [
    ['salvage', one.id],
    ['project', inertLine(one.projectName)],
    ['task', one.taskId],
    ['ref', one.ref],
    ['commit', one.sha],
    ['why', inertLine(one.reason)],
    ['saved', agoText(one.createdAt, context.world.now())],
    ['files', countText(one.files, 'file')],
  ]);
  return {
    result: one,
    text: [facts, '', ...one.paths.map((path) => `  ${inertLine(path)}`)].join('\n'),
    hints: [`  orrery salvage restore ${one.id}`],
  };
};
