import type { Command } from '../command.ts';
import { environmentText } from './show.ts';

/** `orrery env rename`. */
export const envRename: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('environment') ?? '';
  const name = context.input.argument('name') ?? '';
  const environment = await context.change({
    intent: { id, name },
    send: () => client.call('environmentSet', { params: { id }, body: { name } }),
    resources: (changed) => [changed.id],
  });
  return { result: { environment }, text: environmentText(context.screen, environment, context.world.now()) };
};
