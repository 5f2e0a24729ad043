import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a Git directory that the node makes by hand looks like. */
export type GitDirSpec = {
  readonly path: string;
  /** A ref name, or an object name for a detached HEAD. */
  readonly head: string;
  /** Object directories that are borrowed from, read-only. */
  readonly alternates: readonly string[];
  /** `mirror`: bare, borrowed from by others; `node`: the node's view of a checkout; `agent`: a checkout's own `.git`. */
  readonly kind: 'mirror' | 'node' | 'agent';
  /** Boundary commits of a shallow history. */
  readonly shallow?: string | null;
  readonly user?: { readonly name: string; readonly email: string };
  /** Work tree of a submodule, from its Git directory. */
  readonly workTree?: string;
  /** Whether submodules are filled. */
  readonly modules?: boolean;
  /** Whether files of Git LFS are filled: Git then knows them by size and time alone, also after they were carried elsewhere. */
  readonly lfs?: boolean;
};

const common =
  '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tsymlinks = true\n\tautocrlf = false\n\tlogallrefupdates = true\n';
const closed = '\thooksPath = /dev/null\n\tfsmonitor = false\n\tattributesFile = /dev/null\n\texcludesFile = /dev/null\n';

/** The configuration file of a Git directory. Nothing in it comes from a repository. */
export const gitDirConfig = ({
  kind,
  user,
  workTree,
  modules,
  lfs,
}: Pick<GitDirSpec, 'kind' | 'user' | 'workTree' | 'modules' | 'lfs'>): string => {
  const bare = `\tbare = ${kind === 'mirror'}\n`;
  // Objects of a mirror are borrowed: nothing may ever be pruned, and an agent's own collection must not repack what it borrows.
  const upkeep = '[gc]\n\tauto = 0\n\tpruneExpire = never\n[maintenance]\n\tauto = false\n';
  const who = user === undefined ? '' : `[user]\n\tname = ${user.name}\n\temail = ${user.email}\n`;
  const tree = workTree === undefined ? '' : `\tworktree = "${workTree}"\n`;
  const active = modules === true ? '[submodule]\n\tactive = .\n' : '';
  const times = lfs === true ? '\tcheckStat = minimal\n\ttrustctime = false\n' : '';
  return common + bare + times + tree + (kind === 'agent' ? '' : closed) + upkeep + who + active;
};

/**
 * Makes a Git directory from nothing: no template, no remote, no upstream, no hook. Written by hand because it is ten
 * times faster than a process, and because nothing of the machine's configuration gets in. Only a mirror's folder may be
 * there already (empty).
 */
export const makeGitDir = async (spec: GitDirSpec): Promise<void> => {
  const { path, head, alternates } = spec;
  if (spec.kind !== 'mirror') await mkdir(path, { mode: 0o700 });
  await Promise.all(
    ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info', 'hooks'].map((folder) =>
      mkdir(join(path, folder), { recursive: true, mode: 0o700 }),
    ),
  );
  await Promise.all([
    writeFile(join(path, 'HEAD'), head.startsWith('refs/') ? `ref: ${head}\n` : `${head}\n`),
    writeFile(join(path, 'config'), gitDirConfig(spec)),
    ...(alternates.length > 0 ? [writeFile(join(path, 'objects/info/alternates'), `${alternates.join('\n')}\n`)] : []),
    ...(spec.shallow ? [writeFile(join(path, 'shallow'), spec.shallow)] : []),
  ]);
};
