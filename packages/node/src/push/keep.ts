// Keys and addresses of push stand in one file that only the node reads: whoever knows an address can write to that browser.

import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol';
import { z } from 'zod';
import { writeDurably } from '../kernel/durable-file.ts';
import { createMutex } from '../kernel/mutex.ts';

const browser = z.object({
  id: z.string(),
  endpoint: z.string(),
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
  tokenId: z.string(),
  by: z.string(),
  createdMs: z.number(),
  toldMs: z.number().nullable(),
  error: z.string().nullable(),
});
const kept = z.object({ publicKey: z.string(), privateKey: z.string(), browsers: z.array(browser) });

/** A browser that is told. */
export type Browser = Readonly<z.output<typeof browser>>;
export type Kept = { readonly publicKey: string; readonly privateKey: string; readonly browsers: readonly Browser[] };

/** The file as a value that is changed by one at a time. */
export type PushFile = {
  /** What is kept; keys are made when there are none. @throws OrreryError store_damaged */
  read(): Promise<Kept>;
  /** Replaces the browsers; after a crash there are the old or the new ones. */
  change(work: (browsers: readonly Browser[]) => readonly Browser[]): Promise<void>;
};

export const openPushFile = (path: string, makeKeys: () => Promise<{ publicKey: string; privateKey: string }>): PushFile => {
  const mutex = createMutex();
  const load = async (): Promise<Kept> => {
    const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return null;
      throw thrown;
    });
    if (text !== null) return parse(path, text);
    const made = { ...(await makeKeys()), browsers: [] };
    await writeDurably(path, JSON.stringify(made));
    return made;
  };
  return {
    read: () => mutex.run('', load),
    change: (work) =>
      mutex.run('', async () => {
        const now = await load();
        await writeDurably(path, JSON.stringify({ ...now, browsers: work(now.browsers) }));
      }),
  };
};

const parse = (path: string, text: string): Kept => {
  try {
    return kept.parse(JSON.parse(text));
  } catch (thrown) {
    throw new OrreryError('store_damaged', `The file of browsers that are told by push is not readable: ${path}`, {
      rule: 'It holds the keys and addresses of push as the node wrote them.',
      fix: `Move it away, and let the browsers be told anew: mv ${path} ${path}.old`,
      cause: thrown,
    });
  }
};
