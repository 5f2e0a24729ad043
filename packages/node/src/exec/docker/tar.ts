// As much of the tar format as the engine's archive calls need: one folder in, one file out.
const BLOCK = 512;

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** A folder as it is to be made. `name` is relative and short (at most 99 bytes). */
export type FolderEntry = { readonly name: string; readonly mode: number; readonly uid: number; readonly gid: number };

const folderHeader = ({ name, mode, uid, gid }: FolderEntry): Buffer => {
  const header = Buffer.alloc(BLOCK);
  header.write(`${name}/`, 0, 100, 'utf8');
  header.write(octal(mode, 8), 100, 'latin1');
  header.write(octal(uid, 8), 108, 'latin1');
  header.write(octal(gid, 8), 116, 'latin1');
  header.write(octal(0, 12), 124, 'latin1');
  header.write(octal(0, 12), 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write('5', 156, 'latin1');
  header.write('ustar\0' + '00', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
};

/** A tar archive that holds these folders, parents first. */
export const folderArchive = (folders: readonly FolderEntry[]): Buffer =>
  Buffer.concat([...folders.map(folderHeader), Buffer.alloc(2 * BLOCK)]);

/** The content of the first file of a tar archive; null when it holds none, or less of it than it says. */
export const firstFile = (archive: Buffer): Buffer | null => {
  for (let at = 0; at + BLOCK <= archive.length;) {
    const size = Number.parseInt(
      archive
        .toString('latin1', at + 124, at + 136)
        .replaceAll('\0', '')
        .trim() || '0',
      8,
    );
    const type = String.fromCharCode(archive[at + 156] ?? 0);
    const start = at + BLOCK;
    if (archive[at] === 0 || !Number.isSafeInteger(size)) return null;
    if (type === '0' || type === '\0') return start + size <= archive.length ? archive.subarray(start, start + size) : null;
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
};
