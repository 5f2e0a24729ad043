import { tableText } from '../../screen.ts';
import { agoText, bytesText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage delete`. */
export const salvageDelete: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('salvage') ?? '';
  await context.change({ intent: { id }, send: () => client.call('salvageDelete', { params: { id } }), resources: () => [id] });
  return { result: { id }, text: `${context.screen.good('✓')} ${id} is gone.` };
};

/** `orrery salvage prune`. */
export const salvagePrune: Command = async (context) => {
  const { client } = await context.connect();
  const dryRun = context.input.flag('dry-run');
  const body = { dryRun, olderThanMs: context.input.number('older-than') ?? 90 * 86_400_000 };
  const pruned = await context.change({
    intent: body,
    send: () => client.call('salvagePrune', { body, timeoutMs: 600_000 }),
    resources: ({ items }) => items.map(({ id }) => id),
  });
  if (pruned.items.length === 0) return { result: pruned, text: 'No saved work is that old.' };
  const rows = pruned.items.map((item) => [
    item.id,
    dryRun ? 'would go' : 'deleted',
    item.bytes === null ? item.kind : `${item.kind}, ${bytesText(item.bytes)}`,
    agoText(item.createdAt, context.world.now()),
  ]);
  return {
    result: pruned,
    text: tableText(context.screen, ['salvage', 'what', 'kind', 'saved'], rows),
    hints: dryRun ? ['  Without --dry-run they are deleted for good.'] : [],
  };
};
