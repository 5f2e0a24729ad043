import { inertLine } from '../../inert.ts';
import { shellWord } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage restore`. */
export const salvageRestore: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('salvage') ?? '';
  const branch = context.input.text('branch');
  const body = branch === null ? {} : { branch };
  const restored = await context.change({
    intent: { id, ...body },
    send: () => client.call('salvageRestore', { params: { id }, body, timeoutMs: 120_000 }),
    resources: () => [id],
  });
  return {
    result: restored,
    text: `${context.screen.good('✓')} branch ${inertLine(restored.branch)}  ${restored.sha.slice(0, 10)}`,
    hints: [`  git switch ${shellWord(restored.branch)}`],
  };
};
