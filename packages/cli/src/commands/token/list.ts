import { tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery token list`. */
export const tokenList: Command = async (context) => {
  const { client } = await context.connect();
  const answer = await client.call('tokenList');
  if (answer.items.length === 0)
    return { result: answer, text: 'There is no token. Make one: orrery token create ci --scope operator --output ci.token' };
  const nowMs = context.world.now();
  const rows = answer.items.map((one) => [
    one.name,
    one.scope,
    agoText(one.createdAt, nowMs),
    agoText(one.lastUsedAt, nowMs),
    agoText(one.expiresAt, nowMs),
    one.id,
  ]);
  return { result: answer, text: tableText(context.screen, ['name', 'scope', 'made', 'used', 'expires', 'token'], rows) };
};
