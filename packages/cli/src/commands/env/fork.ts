import type { Command } from '../command.ts';
import { followEnvironment } from './follow.ts';

/** `orrery env fork`. */
export const envFork: Command = async (context) => {
  const connection = await context.connect();
  const id = context.input.argument('environment') ?? '';
  const name = context.input.text('name') ?? undefined;
  const backend = context.input.text('backend') ?? undefined;
  const image = context.input.text('image') ?? undefined;
  const begun = await context.change({
    intent: { id, name, backend, image },
    send: (requestId) =>
      connection.client.call('environmentFork', {
        params: { id },
        body: { name, backend, image, requestId },
        idempotencyKey: requestId,
      }),
    resources: (environment) => [environment.id],
  });
  return followEnvironment(context, connection, begun);
};
