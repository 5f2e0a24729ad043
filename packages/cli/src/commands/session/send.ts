import { OrreryError } from '@orrery/protocol/errors';
import type { Command } from '../command.ts';
import { attachFiles } from './attach.ts';
import { followTurn } from './follow.ts';

/** `orrery session send`. */
export const sessionSend: Command = async (context) => {
  const connection = await context.connect();
  const { input, world } = context;
  const given = input.argument('prompt') ?? '';
  const text = given === '-' ? await world.stdin.read() : given;
  const command = input.text('command')?.replace(/^\//, '') ?? null;
  if (text.trim() === '' && command === null && input.list('attach').length === 0)
    throw new OrreryError('empty_input', 'There is nothing to say.', {
      rule: 'It is the second argument; - reads it from standard input.',
      fix: 'orrery session send SESSION "…"',
    });
  const before = await connection.client.call('sessionShow', { params: { id: input.argument('session') ?? '' } });
  const attachments = await attachFiles(context, connection, before.id);
  const body = {
    ...{ text, kind: input.flag('steer') ? ('steer' as const) : ('prompt' as const) },
    ...(command === null ? {} : { action: 'command' as const, command }),
    ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
  };
  const turn = await context.change({
    intent: { session: before.id, ...body },
    send: (requestId) =>
      connection.client.call('turnAdd', { params: { id: before.id }, body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  if (input.flag('no-wait')) return { result: { session: before.id, turn }, text: `Queued: ${turn.id}` };
  return followTurn(context, connection, { session: before.id, turn: turn.id, after: before.sequence });
};

/** `orrery session compact`. */
export const sessionCompact: Command = async (context) => {
  const connection = await context.connect();
  const { input } = context;
  const before = await connection.client.call('sessionShow', { params: { id: input.argument('session') ?? '' } });
  const body = { text: input.argument('keep') ?? '', kind: 'prompt' as const, action: 'compact' as const };
  const turn = await context.change({
    intent: { session: before.id, ...body },
    send: (requestId) =>
      connection.client.call('turnAdd', { params: { id: before.id }, body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  if (input.flag('no-wait')) return { result: { session: before.id, turn }, text: `Queued: ${turn.id}` };
  return followTurn(context, connection, { session: before.id, turn: turn.id, after: before.sequence });
};
