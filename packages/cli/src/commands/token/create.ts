import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Scope } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { shellWord } from '../../wording.ts';
import type { Command } from '../command.ts';

/** Makes a new file that only its owner can read; one that exists is never overwritten. */
const newFile = async (path: string): ReturnType<typeof open> => {
  try {
    return await open(path, 'wx', 0o600);
  } catch (thrown) {
    throw new OrreryError('conflict', 'The file for the token cannot be made.', {
      rule: 'It must not exist yet, in a folder that does.',
      fix: 'orrery token create NAME --output another.token',
      cause: thrown,
    });
  }
};

/** `orrery token create`: the token is shown once, or written to a new file. The file is made first, so that no token is lost. */
export const tokenCreate: Command = async (context) => {
  const { input, world } = context;
  const { client } = await context.connect();
  const lasts = input.number('expires');
  const output = input.text('output');
  const path = output === null ? null : resolve(world.cwd, output);
  const file = path === null ? null : await newFile(path);
  const body = {
    name: input.argument('name') ?? '',
    scope: (input.text('scope') ?? 'viewer') as Scope,
    ...(lasts === null ? {} : { expiresAt: new Date(world.now() + lasts).toISOString() }),
  };
  const intent = { name: body.name, scope: body.scope, lasts };
  try {
    const { token, ...view } = await context.change({
      intent,
      send: () => client.call('tokenCreate', { body }),
      resources: ({ id }) => [id],
    });
    if (file === null || path === null)
      return {
        result: { ...view, token },
        text: token,
        hints: ['  It is shown this once. Keep it in a file that only you can read.'],
      };
    await file.writeFile(`${token}\n`);
    return {
      result: { ...view, file: path },
      text: `${context.screen.good('✓')} ${view.name} (${view.scope})  ${path}`,
      hints: [`  orrery status --connection URL --token-file ${shellWord(path)}`],
    };
  } finally {
    await file?.close();
  }
};
