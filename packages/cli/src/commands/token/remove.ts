import { pick } from '../../names.ts';
import type { Command } from '../command.ts';

/** `orrery token remove`. */
export const tokenRemove: Command = async (context) => {
  const { client } = await context.connect();
  const { items } = await client.call('tokenList');
  const { id, name } = pick(items, context.input.argument('token') ?? '', {
    of: (one) => [one.id, one.name],
    noun: 'token',
    fix: 'orrery token list',
  });
  await context.change({ intent: { id }, send: () => client.call('tokenRemove', { params: { id } }), resources: () => [id] });
  return { result: { removed: id }, text: `${context.screen.good('✓')} ${name} is refused from now on.` };
};
