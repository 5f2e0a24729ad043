// Tar archives of a few files: how files with secrets in them, and large ones of this machine, go into a place at once, by stdin alone.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';

/** One file of an archive. The name is short and plain. */
export type TarFile = { readonly name: string; readonly mode: number; readonly bytes: Uint8Array };

/** One of an archive that is made while it is read: its bytes, or the file of this machine that has them. */
export type TarPart = { readonly name: string; readonly mode: number; readonly from: Uint8Array | string };

const BLOCK = 512;
/** From here on a size does not fit into the octal digits of its field. */
const OCTAL_BYTES = 8 ** 11;

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** In base 256 where the digits do not do. */
const sizeField = (size: number): Buffer => {
  if (size < OCTAL_BYTES) return Buffer.from(octal(size, 12), 'latin1');
  const field = Buffer.alloc(12);
  field[0] = 0x80;
  field.writeBigUInt64BE(BigInt(size), 4);
  return field;
};

const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

type Member = { readonly name: string; readonly mode: number; readonly size: number };

const header = ({ name, mode, size }: Member): Buffer => {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  block.write(octal(mode, 8), 100, 'latin1');
  block.write(octal(0, 8), 108, 'latin1');
  block.write(octal(0, 8), 116, 'latin1');
  sizeField(size).copy(block, 124);
  block.write(octal(0, 12), 136, 'latin1');
  block.write('        ', 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\0' + '00', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
};

/** The archive of `files`, in order (POSIX ustar). Names have at most 99 ASCII characters, files at most 8 GiB. */
export const tarOf = (files: readonly TarFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(({ name, mode, bytes }) => [header({ name, mode, size: bytes.length }), bytes, padding(bytes.length)]),
    Buffer.alloc(2 * BLOCK),
  ]);

const changed = (path: string): OrreryError =>
  new OrreryError('internal', `The file ${path} changed while it was carried.`, {
    rule: 'What is brought to a place and back is brought whole or not at all.',
  });

/** The bytes of a file, which are as many as were told. */
async function* fileBytes(path: string, size: number): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    read += bytes.length;
    if (read > size) break;
    yield bytes;
  }
  if (read !== size) throw changed(path);
}

/** The archive of `parts`, made as it is read: a file may be of any size. It errors when one changes meanwhile. */
export async function* tarStream(parts: readonly TarPart[]): AsyncGenerator<Uint8Array> {
  for (const { name, mode, from } of parts) {
    const size = typeof from === 'string' ? (await stat(from)).size : from.length;
    yield header({ name, mode, size });
    if (typeof from === 'string') yield* fileBytes(from, size);
    else yield from;
    yield padding(size);
  }
  yield Buffer.alloc(2 * BLOCK);
}
