import { inertLine } from '../../inert.ts';
import { factsText } from '../../screen.ts';
import { agoText, bytesText, countText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage show`. */
export const salvageShow: Command = async (context) => {
  const { client } = await context.connect();
  const one = await client.call('salvageShow', { params: { id: context.input.argument('salvage') ?? '' } });
  const facts = factsText(context.screen, [
    [one.kind === 'archive' ? 'archive' : 'salvage', one.id],
    ['project', inertLine(one.projectName)],
    ['task', one.taskId],
    ['ref', one.ref],
    ['commit', one.sha],
    ['why', inertLine(one.reason)],
    ['saved', agoText(one.createdAt, context.world.now())],
    ['files', one.files === null ? null : countText(one.files, 'file')],
    ['size', one.bytes === null ? null : bytesText(one.bytes)],
  ]);
  return {
    result: one,
    text: [facts, '', ...one.paths.map((path) => `  ${inertLine(path)}`)].join('\n'),
    hints: [
      ...(one.paths.length < (one.files ?? 0) ? [`  Shown are the first ${one.paths.length}.`] : []),
      one.kind === 'archive' ? `  orrery salvage restore ${one.id} --folder FOLDER` : `  orrery salvage restore ${one.id}`,
    ],
  };
};
