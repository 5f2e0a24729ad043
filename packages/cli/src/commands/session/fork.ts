import type { SessionFork } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { partedText, REWIND_PATIENCE_MS } from '../../moments.ts';
import type { Command } from '../command.ts';

/** `orrery session fork`. */
export const sessionFork: Command = async (context) => {
  const { input, screen } = context;
  const id = input.argument('session') ?? '';
  const wish = ['at', 'title', 'name'].flatMap((name) => {
    const value = input.text(name);
    return value === null ? [] : [[name, value] as const];
  });
  const body = Object.fromEntries(wish) as SessionFork;
  const { client } = await context.connect();
  const session = await context.change({
    intent: { session: id, ...body },
    send: (requestId) =>
      client.call('sessionFork', {
        params: { id },
        body: { ...body, requestId },
        idempotencyKey: requestId,
        timeoutMs: REWIND_PATIENCE_MS,
      }),
    resources: (made) => [made.id],
  });
  const { name, environment } = session;
  const parted = session.forkedFrom === null ? '' : `, ${partedText(session.forkedFrom)}`;
  return {
    result: { session },
    text: `${screen.good('✓')} ${inertLine(name)} goes on by itself in ${inertLine(environment.name)}${parted}.`,
    hints: [`  orrery session send ${inertLine(name)} "…"`],
  };
};
