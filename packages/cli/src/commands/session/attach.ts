// Files that go with an input: each is uploaded first, under a request of its own, so that a repeated command gives none twice.

import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createHash } from 'node:crypto';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';

/** How long an upload may take, ms. */
const UPLOAD_MS = 60_000;

/** Gives a session the files of `--attach`; answers their ids. */
export const attachFiles = async (
  { input, world, note }: CommandContext,
  { client }: Connection,
  session: string,
): Promise<readonly string[]> => {
  const files = input.list('attach');
  const ids: string[] = [];
  for (const file of files) {
    const body = await bytesOf(resolve(world.cwd, file), file);
    const name = basename(file);
    // The same file of the same name is the same attachment.
    const requestId = createHash('sha256').update(`${name}\n`).update(body).digest('hex');
    const { id, mediaType } = await client.call('attachmentAdd', {
      params: { id: session },
      query: { name, requestId },
      body,
      timeoutMs: UPLOAD_MS,
    });
    note(`  attached ${name} (${mediaType})`);
    ids.push(id);
  }
  return ids;
};

const bytesOf = async (path: string, shown: string): Promise<Uint8Array> => {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new OrreryError('invalid_input', `The file ${shown} cannot be read.`, {
      rule: '--attach names a file of this machine.',
      fix: `ls -l ${shown}`,
      cause,
    });
  }
};
