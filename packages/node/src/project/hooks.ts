import { readCommittedFiles } from '../git/read-blobs.ts';
import type { Git } from '../git/run.ts';
import { hookNames, hookPath, settingsPath, type HookName } from './model.ts';

/** One hook of a commit. */
export type CommitHook = { readonly name: HookName; readonly sha: string; readonly contents: Buffer };

/** Hooks and settings of a commit. */
export type CommitHooks = {
  readonly hooks: readonly CommitHook[];
  /** Text of `.orrery/orrery.yaml`; null when the commit has none. */ readonly settings: string | null;
};

/**
 * Reads hooks and settings of a commit from the mirror: plain blobs, no filter, no link. Rejects with
 * `repository_unusable` when the commit cannot be read: that is never "no hooks".
 */
export const readHooks = async (
  git: Git,
  mirror: string,
  { baseSha, names = hookNames }: { baseSha: string; names?: readonly HookName[] },
): Promise<CommitHooks> => {
  const files = await readCommittedFiles(git, mirror, { commit: baseSha, paths: [...names.map(hookPath), settingsPath] });
  const hooks = names.flatMap((name) => {
    const file = files.find(({ path }) => path === hookPath(name));
    return file === undefined ? [] : [{ name, sha: file.sha, contents: file.contents }];
  });
  return { hooks, settings: files.find(({ path }) => path === settingsPath)?.contents.toString('utf8') ?? null };
};
