// As much of the tar format as the engine's calls need: folders and a build's context in, one file out.
const BLOCK = 512;

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** A folder as it is to be made. `name` is relative and short (at most 99 bytes). */
export type FolderEntry = { readonly name: string; readonly mode: number; readonly uid: number; readonly gid: number };

type Header = FolderEntry & { readonly type: string; readonly size: number; readonly link?: string };

const headerOf = ({ name, mode, uid, gid, type, size, link = '' }: Header): Buffer => {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'utf8');
  header.write(octal(mode, 8), 100, 'latin1');
  header.write(octal(uid, 8), 108, 'latin1');
  header.write(octal(gid, 8), 116, 'latin1');
  header.write(octal(size, 12), 124, 'latin1');
  header.write(octal(0, 12), 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\0' + '00', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
};

const folderHeader = (folder: FolderEntry): Buffer => headerOf({ ...folder, name: `${folder.name}/`, type: '5', size: 0 });

const padded = (content: Uint8Array): Buffer[] => [
  Buffer.from(content),
  Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
];

/** A record of a name that has no room in a header: `<length> <key>=<value>`, its own length counted. */
const longRecord = (key: string, value: string): Buffer => {
  const bytes = Buffer.byteLength(` ${key}=${value}\n`);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
};

/** One file or link of an archive, owned by root. A link's content is where it leads. */
export const fileEntry = (name: string, kind: 'file' | 'executable' | 'link', content: Uint8Array): Buffer => {
  const link = kind === 'link' ? Buffer.from(content).toString('utf8') : '';
  const owner = { uid: 0, gid: 0 };
  const long = [
    ...(Buffer.byteLength(name) > 99 ? [longRecord('path', name)] : []),
    ...(Buffer.byteLength(link) > 99 ? [longRecord('linkpath', link)] : []),
  ];
  const extra = Buffer.concat(long);
  const before =
    long.length === 0 ? [] : [headerOf({ ...owner, name: 'long', mode: 0o644, type: 'x', size: extra.length }), ...padded(extra)];
  const mode = kind === 'file' ? 0o644 : 0o755;
  const size = kind === 'link' ? 0 : content.length;
  const header = headerOf({ ...owner, name, mode, type: kind === 'link' ? '2' : '0', size, link });
  return Buffer.concat([...before, header, ...(kind === 'link' ? [] : padded(content))]);
};

/** How every archive ends. */
export const archiveEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/** A tar archive that holds these folders, parents first. */
export const folderArchive = (folders: readonly FolderEntry[]): Buffer =>
  Buffer.concat([...folders.map(folderHeader), archiveEnd()]);

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
