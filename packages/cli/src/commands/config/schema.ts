import type { Command } from '../command.ts';

/** `orrery config schema`: asked of the node's program, which owns it. */
export const configSchema: Command = async (context) => {
  const line = await context.world.processes.callNode({ args: ['config', 'schema', ...context.nodeArguments] });
  return { result: line['result'], text: JSON.stringify(line['result'], null, 2) };
};
