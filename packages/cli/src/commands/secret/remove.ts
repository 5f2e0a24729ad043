import type { Command } from '../command.ts';

/** `orrery secret remove`. */
export const secretRemove: Command = async (context) => {
  const name = context.input.argument('name') ?? '';
  const line = await context.world.processes.callNode({ args: ['secret', 'remove', name, ...context.nodeArguments] });
  return {
    result: line['result'] ?? { name },
    text: `${context.screen.good('✓')} ${name} is removed; what used it fails from now on, and says so.`,
  };
};
