// Glossary. A pointer is the small text that a commit has in the place of a file in Git LFS; an object is that file's content,
// named by its SHA-256. Whether a path is in LFS is said by the attribute `filter=lfs`.
import { LFS_POINTER_BYTES } from '../limits.ts';
import { isSha } from '../names.ts';
import type { Git, GitCall } from '../run.ts';

/** What a pointer says. */
export type Pointer = { readonly oid: string; readonly size: number };

/** A file of a commit that is in LFS. `path` in latin1, `sha` the blob of its pointer. */
export type PointerFile = Pointer & { readonly path: string; readonly sha: string; readonly program: boolean };

/** Reads a pointer; null when the text is none. Unknown keys are allowed, another hash is not. */
export const parsePointer = (text: string): Pointer | null => {
  if (
    text.length >= LFS_POINTER_BYTES ||
    !/^version https:\/\/(git-lfs\.github\.com\/spec|hawser\.github\.com\/spec)\/v1\n/.test(text)
  )
    return null;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = Number(/^size (\d{1,15})$/m.exec(text)?.[1] ?? Number.NaN);
  return oid === undefined || !Number.isSafeInteger(size) ? null : { oid, size };
};

/** Which of these paths (latin1) the attributes of the work tree have in LFS. */
export const inLfs = async (git: Git, call: Omit<GitCall, 'args'>, paths: readonly string[]): Promise<ReadonlySet<string>> => {
  if (paths.length === 0) return new Set();
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  const { stdout } = await git.run({ ...call, args: ['check-attr', '-z', '--stdin', 'filter'], input });
  const words = stdout.toString('latin1').split('\0');
  return new Set(words.flatMap((path, index) => (index % 3 === 0 && words[index + 2] === 'lfs' ? [path] : [])));
};

/**
 * The files of a commit that are in LFS. `call` has the work tree of a checkout of it, in which nothing ran yet, for the
 * attributes.
 */
export const pointerFiles = async (git: Git, call: Omit<GitCall, 'args'>, commit: string): Promise<readonly PointerFile[]> => {
  const { stdout } = await git.run({ ...call, args: ['ls-tree', '-r', '-l', '-z', '--full-tree', commit] });
  const small = stdout
    .toString('latin1')
    .split('\0')
    .flatMap((line) => {
      const found = /^(100644|100755) blob ([0-9a-f]{40}) +(\d+)\t([^]*)$/.exec(line);
      if (found === null || Number(found[3]) >= LFS_POINTER_BYTES) return [];
      return [{ path: found[4] ?? '', sha: found[2] ?? '', program: found[1] === '100755' }];
    });
  const named = await inLfs(
    git,
    call,
    small.map(({ path }) => path),
  );
  const files = small.filter(({ path }) => named.has(path));
  const texts = await readPointers(
    git,
    call,
    files.map(({ sha }) => sha),
  );
  return files.flatMap((file) => {
    const pointer = texts.get(file.sha);
    return pointer === undefined ? [] : [{ ...file, ...pointer }];
  });
};

/** What these blobs say, those of them that are pointers. Larger ones must not be asked for. */
export const readPointers = async (
  git: Git,
  call: Omit<GitCall, 'args'>,
  shas: readonly string[],
): Promise<ReadonlyMap<string, Pointer>> => {
  const asked = [...new Set(shas)].filter(isSha);
  if (asked.length === 0) return new Map();
  const input = asked.map((sha) => `${sha}\n`).join('');
  const { stdout } = await git.run({ ...call, args: ['cat-file', '--batch'], input });
  const found = new Map<string, Pointer>();
  for (let at = 0; at < stdout.length;) {
    const end = stdout.indexOf(10, at);
    const [sha = '', , size = '0'] = stdout.toString('latin1', at, end).split(' ');
    const pointer = parsePointer(stdout.toString('utf8', end + 1, end + 1 + Number(size)));
    if (pointer !== null) found.set(sha, pointer);
    at = end + 2 + Number(size);
  }
  return found;
};
