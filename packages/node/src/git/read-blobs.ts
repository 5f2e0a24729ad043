import { OrreryError } from '@orrery/protocol/errors';
import { PROJECT_FILE_BYTES } from '../kernel/limits.ts';
import type { Git } from './run.ts';

/** One plain file of a commit. */
export type CommittedFile = {
  readonly path: string;
  readonly sha: string;
  readonly executable: boolean;
  readonly contents: Buffer;
};

/**
 * Reads files of a commit as plain blobs: no filters, no links (a path that is a link, or leads through one, is not
 * there), nothing from a work tree. Missing files are left out. Rejects with `repository_unusable` when the commit cannot
 * be read, and with `input_too_large` for a file beyond its limit: neither may look like "no such file".
 */
export const readCommittedFiles = async (
  git: Git,
  gitDir: string,
  { commit, paths }: { commit: string; paths: readonly string[] },
): Promise<CommittedFile[]> => {
  const listed = await git
    .run({ gitDir, args: ['ls-tree', '-z', '-l', '--full-tree', '--end-of-options', commit, '--', ...paths] })
    .catch((thrown: unknown) => {
      throw new OrreryError('repository_unusable', `The files of commit ${commit} cannot be read.`, {
        rule: 'Hooks and settings come from the base commit; when it cannot be read nothing runs.',
        fix: 'Check the repository: git fsck',
        cause: thrown,
      });
    });
  const entries = listed.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const found = /^(\d{6}) blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(line);
      return found === null || found[1] === '120000'
        ? []
        : [{ executable: found[1] === '100755', sha: found[2] ?? '', bytes: Number(found[3]), path: found[4] ?? '' }];
    });
  const large = entries.find(({ bytes }) => bytes > PROJECT_FILE_BYTES);
  if (large !== undefined) {
    throw new OrreryError('input_too_large', `${large.path} of commit ${commit} is ${large.bytes} bytes large.`, {
      rule: `Hooks and settings of a project are at most ${PROJECT_FILE_BYTES} bytes each.`,
    });
  }
  if (entries.length === 0) return [];
  const { stdout } = await git.run({
    gitDir,
    args: ['cat-file', '--batch'],
    input: entries.map(({ sha }) => `${sha}\n`).join(''),
  });
  let at = 0;
  return entries.map(({ path, sha, executable, bytes }) => {
    const start = stdout.indexOf(10, at) + 1;
    at = start + bytes + 1;
    return { path, sha, executable, contents: Buffer.from(stdout.subarray(start, start + bytes)) };
  });
};
