import { OrreryError } from '@orrery/protocol/errors';
import type { Git } from './run.ts';

/** One entry of a commit's tree that has a content. */
export type TreeFile = {
  /** Relative to the folder that was listed. */
  readonly path: string;
  readonly kind: 'file' | 'executable' | 'link';
  readonly bytes: number;
  readonly sha: string;
};

/** What is below a folder of a commit. `modules` are repositories of their own, of which nothing is here. */
export type CommittedTree = { readonly files: readonly TreeFile[]; readonly modules: readonly string[] };

const KINDS: Readonly<Record<string, TreeFile['kind']>> = {
  '100644': 'file',
  '100664': 'file',
  '100755': 'executable',
  '120000': 'link',
};

const unreadable = (commit: string, cause: unknown): OrreryError =>
  new OrreryError('repository_unusable', `The files of commit ${commit} cannot be read.`, {
    rule: 'What is built comes from the base commit.',
    fix: 'Check the repository: git fsck',
    cause,
  });

/** Lists every file below `folder` ('.' is all of it); a folder that is not there has none. Nothing of a work tree counts. */
export const listCommittedTree = async (
  git: Git,
  gitDir: string,
  { commit, folder }: { readonly commit: string; readonly folder: string },
): Promise<CommittedTree> => {
  const below = folder === '.' ? '' : `${folder}/`;
  const args = ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit, ...(below === '' ? [] : ['--', below])];
  const { stdout } = await git.run({ gitDir, args }).catch((thrown: unknown) => {
    throw unreadable(commit, thrown);
  });
  const entries = stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const found = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)$/s.exec(line);
      return found === null
        ? []
        : [{ mode: found[1]!, sha: found[3]!, bytes: Number(found[4]), path: found[5]!.slice(below.length) }];
    });
  return {
    files: entries.flatMap(({ mode, sha, bytes, path }) =>
      KINDS[mode] === undefined ? [] : [{ path, kind: KINDS[mode], bytes, sha }],
    ),
    modules: entries.filter(({ mode }) => mode === '160000').map(({ path }) => path),
  };
};

/** As much as is read at once: few Git commands, little memory. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
const AT_ONCE_FILES = 1_000;

const batches = (files: readonly Pick<TreeFile, 'sha' | 'bytes'>[]): (readonly Pick<TreeFile, 'sha' | 'bytes'>[])[] => {
  const all: Pick<TreeFile, 'sha' | 'bytes'>[][] = [];
  let room = 0;
  for (const file of files) {
    const last = all.at(-1);
    if (last === undefined || file.bytes > room || last.length >= AT_ONCE_FILES) {
      all.push([file]);
      room = AT_ONCE_BYTES - file.bytes;
    } else {
      last.push(file);
      room -= file.bytes;
    }
  }
  return all;
};

/** The contents of files of a commit, in their order, as plain blobs: no filter has a part in it. */
export async function* readTreeFiles(
  git: Git,
  gitDir: string,
  files: readonly Pick<TreeFile, 'sha' | 'bytes'>[],
): AsyncGenerator<Buffer, void> {
  for (const batch of batches(files)) {
    const total = batch.reduce((sum, { bytes }) => sum + bytes, 0);
    const { stdout } = await git.run({
      gitDir,
      args: ['cat-file', '--batch'],
      input: batch.map(({ sha }) => `${sha}\n`).join(''),
      maxOutputBytes: total + batch.length * 200,
    });
    let at = 0;
    for (const { bytes } of batch) {
      const start = stdout.indexOf(10, at) + 1;
      at = start + bytes + 1;
      yield stdout.subarray(start, start + bytes);
    }
  }
}
