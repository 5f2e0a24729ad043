// Output from the spool files: for keepers that are gone, and for reading without a keeper's help.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { readReleased } from './directory.ts';
import { SPOOL_READ_BYTES } from './limits.ts';
import type { OutputChunk, OutputStream } from './types.ts';

const openSpool = async (path: string) => {
  try {
    return await open(path, 'r');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return null;
    throw thrown;
  }
};

/**
 * The bytes of a spool from `fromOffset` to what the file holds now. Rejects with `history_expired` when that offset was
 * released (the bytes were taken over and are gone). Reads in pieces and only as fast as it is asked.
 */
export async function* readSpoolFile(dir: string, stream: OutputStream, fromOffset: number): AsyncGenerator<OutputChunk> {
  const file = await openSpool(join(dir, stream));
  if (file === null) return;
  try {
    for (let offset = fromOffset; ;) {
      const bytes = Buffer.allocUnsafe(SPOOL_READ_BYTES);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
      if (bytesRead === 0) return;
      // Asked after each read: the mark moves before the hole is punched, so zero bytes of a hole are never handed on.
      const released = await readReleased(dir, stream);
      if (released > offset) throw releasedError(stream, offset, released);
      yield { offset, bytes: bytes.subarray(0, bytesRead) };
      offset += bytesRead;
    }
  } finally {
    await file.close();
  }
}

const releasedError = (stream: OutputStream, offset: number, released: number): OrreryError =>
  new OrreryError('history_expired', `Output of ${stream} from byte ${offset} is gone.`, {
    rule: `Everything below byte ${released} was taken over and trimmed.`,
    details: { stream, offset, released },
  });
