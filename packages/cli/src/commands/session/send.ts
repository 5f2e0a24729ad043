import { OrreryError } from '@orrery/protocol/errors';
import type { Command } from '../command.ts';
import { followTurn } from './follow.ts';

/** `orrery session send`. */
export const sessionSend: Command = async (context) => {
  const connection = await context.connect();
  const { input, world } = context;
  const given = input.argument('prompt') ?? '';
  const text = given === '-' ? await world.stdin.read() : given;
  if (text.trim() === '')
    throw new OrreryError('empty_input', 'There is nothing to say.', {
      rule: 'It is the second argument; - reads it from standard input.',
      fix: 'orrery session send SESSION "…"',
    });
  const before = await connection.client.call('sessionShow', { params: { id: input.argument('session') ?? '' } });
  const body = { text, kind: input.flag('steer') ? ('steer' as const) : ('prompt' as const) };
  const turn = await context.change({
    intent: { session: before.id, ...body },
    send: (requestId) =>
      connection.client.call('turnAdd', { params: { id: before.id }, body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  if (input.flag('no-wait')) return { result: { session: before.id, turn }, text: `Queued: ${turn.id}` };
  return followTurn(context, connection, { session: before.id, turn: turn.id, after: before.sequence });
};
