import type { SessionFork } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { partedText, recordText, REWIND_PATIENCE_MS } from '../../moments.ts';
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
  // What cannot be looked at is said by the fork itself, also when it is the answer to a request that comes again.
  const before = await client.call('sessionShow', { params: { id } }).then(recordText, () => null);
  if (before !== null) context.note(`  ${inertLine(before)}`);
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
