// A small tar archive of a few files: how files with secrets in them go into a place at once, by stdin alone.

/** One file of an archive. The name is short and plain. */
export type TarFile = { readonly name: string; readonly mode: number; readonly bytes: Uint8Array };

const BLOCK = 512;

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

const header = ({ name, mode, bytes }: TarFile): Buffer => {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  block.write(octal(mode, 8), 100, 'latin1');
  block.write(octal(0, 8), 108, 'latin1');
  block.write(octal(0, 8), 116, 'latin1');
  block.write(octal(bytes.length, 12), 124, 'latin1');
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
    ...files.flatMap((file) => [header(file), file.bytes, Buffer.alloc((BLOCK - (file.bytes.length % BLOCK)) % BLOCK)]),
    Buffer.alloc(2 * BLOCK),
  ]);
