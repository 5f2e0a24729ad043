import type { Command } from '../command.ts';

/** `orrery queue resume`. */
export const queueResume: Command = async (context) => {
  const { client } = await context.connect();
  await context.change({
    intent: {},
    send: (requestId) => client.call('queueResume', { body: { requestId }, idempotencyKey: requestId }),
  });
  return { result: { paused: false }, text: `${context.screen.good('✓')} The queue goes on.`, hints: ['  orrery queue list'] };
};
