import { resolve } from 'node:path';
import { inertLine } from '../../inert.ts';
import { shellWord } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery salvage restore`. */
export const salvageRestore: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('salvage') ?? '';
  const [branch, folder] = [context.input.text('branch'), context.input.text('folder')];
  const body = {
    ...(branch === null ? {} : { branch }),
    ...(folder === null ? {} : { folder: resolve(context.world.cwd, folder) }),
  };
  const restored = await context.change({
    intent: { id, ...body },
    send: () => client.call('salvageRestore', { params: { id }, body, timeoutMs: 600_000 }),
    resources: () => [id],
  });
  if (restored.branch === null) {
    const unpacked = restored.folder ?? '';
    return {
      result: restored,
      text: `${context.screen.good('✓')} unpacked into ${inertLine(unpacked)}`,
      hints: [`  ls ${shellWord(unpacked)}`],
    };
  }
  return {
    result: restored,
    text: `${context.screen.good('✓')} branch ${inertLine(restored.branch)}  ${(restored.sha ?? '').slice(0, 10)}`,
    hints: [`  git switch ${shellWord(restored.branch)}`],
  };
};
