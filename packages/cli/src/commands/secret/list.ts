import { inertLine } from '../../inert.ts';
import type { Command } from '../command.ts';

type Listed = { readonly items: readonly { readonly name: string }[] };
const isListed = (value: unknown): value is Listed =>
  typeof value === 'object' && value !== null && 'items' in value && Array.isArray(value.items);

/** `orrery secret list`: names only. */
export const secretList: Command = async (context) => {
  const line = await context.world.processes.callNode({ args: ['secret', 'list', ...context.nodeArguments] });
  const result = line['result'];
  const items = isListed(result) ? result.items : [];
  return {
    result: { items },
    text:
      items.length === 0
        ? 'There is no secret. Store one: orrery secret set anthropic < key.txt'
        : items.map(({ name }) => inertLine(name)).join('\n'),
  };
};
