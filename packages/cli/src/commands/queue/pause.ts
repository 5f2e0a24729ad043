import type { Command } from '../command.ts';

/** `orrery queue pause`. */
export const queuePause: Command = async (context) => {
  const { client } = await context.connect();
  await context.change({
    intent: {},
    send: (requestId) => client.call('queuePause', { body: { requestId }, idempotencyKey: requestId }),
  });
  return {
    result: { paused: true },
    text: `${context.screen.careful('!')} The queue is paused: what runs goes on, nothing new starts.`,
    hints: ['  orrery queue resume'],
  };
};
