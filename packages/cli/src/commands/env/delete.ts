import { inertLine } from '../../inert.ts';
import type { Command } from '../command.ts';

/** How long a large checkout may take to be saved and taken away. */
const PATIENCE_MS = 600_000;

/** `orrery env delete`. */
export const envDelete: Command = async (context) => {
  const { client } = await context.connect();
  const { id, name } = await client.call('environmentShow', { params: { id: context.input.argument('environment') ?? '' } });
  const salvage = context.input.flag('salvage');
  await context.change({
    intent: { id, salvage },
    send: () =>
      client.call('environmentDelete', {
        params: { id },
        query: { salvage: salvage ? 'true' : 'false' },
        timeoutMs: PATIENCE_MS,
      }),
    resources: () => [id],
  });
  return {
    result: { deleted: id },
    text: `${context.screen.good('✓')} ${inertLine(name)} is deleted.`,
    hints: salvage ? ['  orrery salvage list'] : [],
  };
};
