import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery audit`. */
export const audit: Command = async (context) => {
  const connection = await context.connect();
  const { input } = context;
  const [action, actor, outcome] = [input.text('action'), input.text('actor'), input.text('outcome')];
  const page = await connection.client.call('auditList', {
    query: {
      ...(action === null ? {} : { action }),
      ...(actor === null ? {} : { actor }),
      ...(outcome === null ? {} : { outcome: outcome as 'done' | 'refused' | 'failed' }),
    },
  });
  if (page.items.length === 0) return { result: page, text: 'Nothing of that kind is on record.' };
  const rows = page.items.map((one) => [
    agoText(one.at, context.world.now()),
    inertLine(one.actor),
    one.action,
    inertLine(one.subject),
    one.outcome,
    inertLine(
      Object.entries(one.detail)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(' '),
    ),
  ]);
  return {
    result: page,
    text: tableText(context.screen, ['when', 'who', 'what', 'to', 'ended', 'more'], rows),
    hints: page.nextCursor === null ? [] : ['  There are more: narrow them with --action, --actor or --outcome.'],
  };
};
