import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import { agoText, bytesText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery env prune`. */
export const envPrune: Command = async (context) => {
  const { client } = await context.connect();
  const dryRun = context.input.flag('dry-run');
  const olderThanMs = context.input.number('older-than') ?? undefined;
  const body = { dryRun, olderThanMs };
  const pruned = await context.change({
    intent: body,
    send: () => client.call('environmentPrune', { body, timeoutMs: 600_000 }),
    resources: ({ items }) => items.map(({ id }) => id),
  });
  if (pruned.items.length === 0) return { result: pruned, text: 'No environment is that old.' };
  const rows = pruned.items.map((item) => [
    inertLine(item.name),
    item.kept === null ? (dryRun ? 'would go' : 'deleted') : 'stays',
    item.diskBytes === null ? '-' : bytesText(item.diskBytes),
    agoText(item.usedAt, context.world.now()),
    item.kept === null ? '' : inertLine(item.kept),
  ]);
  return {
    result: pruned,
    text: tableText(context.screen, ['environment', 'what', 'disk', 'used', 'because'], rows),
    hints: dryRun ? ['  Without --dry-run they are deleted.'] : [],
  };
};
