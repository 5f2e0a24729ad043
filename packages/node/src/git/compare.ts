import { DIFF_PATCH_BYTES, GIT_WRITE_MS } from '../kernel/limits.ts';
import { isSha } from './names.ts';
import type { Git } from './run.ts';

/** One changed file; counts are null for binary files. */
export type ChangedFile = {
  readonly path: string;
  readonly oldPath: string | null;
  readonly status: string;
  readonly insertions: number | null;
  readonly deletions: number | null;
};

/** One record as Git gives it: with the objects before and after. */
export type RawFile = ChangedFile & { readonly before: string; readonly after: string; readonly modeBefore: string };

/** The change from one commit to another. */
export type Comparison = { readonly files: readonly ChangedFile[]; readonly insertions: number; readonly deletions: number };

const statusWords: Record<string, string> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type changed',
};

/** What changed between two commits or trees of a bare repository of the node, renames found. */
export const compareTrees = async (git: Git, gitDir: string, { from, to }: { from: string; to: string }): Promise<Comparison> => {
  const { files, insertions, deletions } = await compareRaw(git, gitDir, { from, to });
  return { files: files.map(({ before: _before, after: _after, modeBefore: _mode, ...file }) => file), insertions, deletions };
};

/** The same with the objects of each file. */
export const compareRaw = async (
  git: Git,
  gitDir: string,
  { from, to }: { from: string; to: string },
): Promise<Omit<Comparison, 'files'> & { readonly files: readonly RawFile[] }> => {
  if (from === to) return { files: [], insertions: 0, deletions: 0 };
  const answer = await git.text({
    gitDir,
    timeoutMs: GIT_WRITE_MS,
    args: ['diff-tree', '-r', '-z', '-M', '--raw', '--numstat', '--no-ext-diff', '--no-textconv', '--no-commit-id', from, to],
  });
  const files = parseRawNumstat(answer);
  const sum = (count: (file: ChangedFile) => number | null): number =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return { files, insertions: sum(({ insertions }) => insertions), deletions: sum(({ deletions }) => deletions) };
};

/** Reads `--raw --numstat -z`: first all raw records, then all counts, in the same order. */
export const parseRawNumstat = (answer: string): RawFile[] => {
  const fields = answer.split('\0');
  const files: RawFile[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':')) {
    const [modeBefore = '', , before = '', after = '', kind = 'M'] = (fields[at] ?? '').split(' ');
    const letter = kind[0] ?? 'M';
    const moved = letter === 'R' || letter === 'C';
    const first = fields[at + 1] ?? '';
    files.push({
      path: moved ? (fields[at + 2] ?? '') : first,
      oldPath: moved ? first : null,
      status: statusWords[letter] ?? letter,
      insertions: null,
      deletions: null,
      before,
      after,
      modeBefore: modeBefore.slice(1),
    });
    at += moved ? 3 : 2;
  }
  for (const file of files) {
    const [insertions = '-', deletions = '-', path = ''] = (fields[at] ?? '').split('\t');
    if (insertions !== '-') Object.assign(file, { insertions: Number(insertions), deletions: Number(deletions) });
    at += path === '' ? 3 : 1;
  }
  return files;
};

/** The unified patch between two commits, cut at a bound of bytes at a whole character. */
export const patchBetween = async (
  git: Git,
  gitDir: string,
  { from, to, maxBytes = DIFF_PATCH_BYTES }: { from: string; to: string; maxBytes?: number },
): Promise<{ patch: string; truncated: boolean }> => {
  if (from === to) return { patch: '', truncated: false };
  const { stdout, truncated } = await git.run({
    gitDir,
    timeoutMs: GIT_WRITE_MS,
    maxOutputBytes: maxBytes,
    truncate: true,
    args: ['diff-tree', '-r', '-p', '-M', '--no-ext-diff', '--no-textconv', '--no-commit-id', '--no-color', from, to],
  });
  // A cut in the middle of a character would show as a replacement sign.
  const text = new TextDecoder('utf-8', { fatal: false }).decode(stdout, { stream: truncated });
  return { patch: text, truncated };
};

/** Commits that `to` has and `from` has not. */
export const countCommits = async (git: Git, gitDir: string, { from, to }: { from: string; to: string }): Promise<number> =>
  from === to ? 0 : Number(await git.text({ gitDir, timeoutMs: GIT_WRITE_MS, args: ['rev-list', '--count', to, `^${from}`] }));

/** Resolves a revision of a bare repository of the node to a commit, or null when it names none. */
export const resolveCommit = async (git: Git, gitDir: string, revision: string): Promise<string | null> => {
  if (revision.startsWith('-')) return null;
  const { stdout, code } = await git.run({
    gitDir,
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    okCodes: [0, 1, 128],
  });
  const sha = stdout.toString('utf8').trim();
  return code === 0 && isSha(sha) ? sha : null;
};
