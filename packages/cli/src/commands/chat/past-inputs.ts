// What a person wrote before, over all chats: a bounded file that only its owner can read.

import { chmod, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bounds of the file; what is longer is not kept, what is older makes room. */
export const pastLimits = { entries: 500, entryChars: 16_384, fileBytes: 1024 * 1024 } as const;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Oldest first. A file that cannot be read is an empty past. */
export const readPast = async (path: string): Promise<string[]> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isText(value) ? [value] : [];
      } catch {
        return [];
      }
    })
    .slice(-pastLimits.entries);
};

/** Adds one entry. */
export const rememberPast = async (path: string, text: string): Promise<void> => {
  if (text.trim() === '' || text.length > pastLimits.entryChars) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  let size: number;
  try {
    await file.writeFile(`${JSON.stringify(text)}\n`);
    ({ size } = await file.stat());
  } finally {
    await file.close();
  }
  await chmod(path, 0o600);
  if (size > pastLimits.fileBytes) await shorten(path);
};

/** Half of the bound stays, so that it is not written again each time. */
const shorten = async (path: string): Promise<void> => {
  const kept: string[] = [];
  let bytes = 0;
  for (const entry of (await readPast(path)).toReversed()) {
    const line = `${JSON.stringify(entry)}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > pastLimits.fileBytes / 2) break;
    kept.unshift(line);
  }
  await writeFile(`${path}.new`, kept.join(''), { mode: 0o600 });
  await rename(`${path}.new`, path);
};
