// What tests of interrupted applies start from: a repository with work of the user's own in it, and a result for it.
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  type Stats,
} from 'node:fs';
import { basename, join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import { createResults, type Apply, type Results } from '../src/project/index.ts';
import type { Git } from '../src/git/run.ts';
import { createRepositoryChanges, type RepositoryChanges } from '../src/workspace/index.ts';
import { openGitNode } from './git-node.ts';

/** Every kind of change to a tree: added, changed, deleted, a folder that becomes a file and the other way round, a link, a mode. */
const work = (tree: string): void => {
  rmSync(join(tree, 'gone'), { recursive: true });
  rmSync(join(tree, 'folder'), { recursive: true });
  rmSync(join(tree, 'file'));
  const files = {
    folder: 'now a file\n',
    'file/inside.txt': 'now a folder\n',
    'new/deep/er.txt': 'new\n',
    'kept/two.txt': 'changed\n',
  };
  writeFiles(tree, files);
  symlinkSync('../README.md', join(tree, 'new/link'));
  chmodSync(join(tree, 'README.md'), 0o755);
};

/** Every path below a folder with what it is, in order; paths that `enter` refuses are left out with what is below them. */
const walk = (root: string, folder: string, enter: (path: string) => boolean): readonly (readonly [path: string, at: Stats])[] =>
  readdirSync(join(root, folder))
    .toSorted()
    .map((name) => join(folder, name))
    .filter(enter)
    .flatMap((path) => {
      const at = lstatSync(join(root, path));
      return [[path, at] as const, ...(at.isDirectory() ? walk(root, path, enter) : [])];
    });

const described = (root: string, path: string, at: Stats): string => {
  const target = at.isSymbolicLink() ? readlinkSync(join(root, path)) : '';
  return [path, at.isDirectory() ? 'folder' : at.isSymbolicLink() ? 'link' : 'file', (at.mode & 0o7777).toString(8), target].join(
    ' ',
  );
};

const STRAY = /(?:\.lock|_HEAD)$|^(?:orrery|tmp_)/;

/** All that a person can see of a repository, and everything in its Git directory that is not Git's own. */
const lookAtRepository = (root: string) => {
  const all = walk(root, '', (path) => path !== '.git');
  return {
    files: all.map(([path, at]) => described(root, path, at)),
    contents: all.filter(([, at]) => at.isFile()).map(([path]) => `${path}: ${readFileSync(join(root, path), 'utf8')}`),
    status: gitIn(root, 'status', '--porcelain', '--untracked-files=all', '--ignored'),
    index: gitIn(root, 'ls-files', '--stage'),
    tree: gitIn(root, 'rev-parse', 'HEAD^{tree}'),
    branches: gitIn(root, 'for-each-ref', '--format=%(refname) %(tree)', 'refs/heads'),
    config: readFileSync(join(root, '.git/config'), 'utf8'),
    strays: walk(root, '.git', () => true)
      .map(([path]) => path)
      .filter((path) => STRAY.test(basename(path))),
    reflog: gitIn(root, 'reflog', 'show', '--format=%gs', 'HEAD'),
  };
};

export type Look = ReturnType<typeof lookAtRepository>;

/** Opens a node with a result that waits to be applied to a repository with untracked, ignored and empty things of the user's. */
export const openApplyPlace = async () => {
  const node = await openGitNode();
  const { root } = plainRepository(node.folder);
  writeFiles(root, { 'gone/one.txt': '1\n', 'gone/two.txt': '2\n', 'folder/a.txt': 'a\n', file: 'f\n', 'kept/two.txt': '2\n' });
  const baseSha = commitAll(root, 'more files');
  const { id } = await node.projects.add({ source: root });
  const checkout = await node.workspace.claim({ projectId: id, taskId: 'tsk_a', baseSha });
  work(checkout.path);
  const { headSha } = await node.workspace.collect(checkout.id, { attempt: 1 });
  const apply: Apply = { taskId: 'tsk_a', projectId: id, baseSha, headSha, mode: 'tree', branch: 'orrery/tsk_a' };
  writeFiles(root, { 'untracked.txt': 'mine\n', 'debug.log': 'mine\n', 'kept/untracked.txt': 'mine\n' });
  mkdirSync(join(root, 'empty'));
  const saved = join(node.folder, 'saved');
  const look = (): Look => lookAtRepository(root);
  /** Remembers the repository; answers what makes it so again. */
  const save = (): (() => void) => {
    const copy = (from: string, to: string): void =>
      cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    copy(root, saved);
    return () => {
      rmSync(root, { recursive: true });
      copy(saved, root);
    };
  };
  /** Another life of the node, or one with a Git of its own. */
  const lifeOf = (git: Git, step?: () => Promise<void>): { results: Results; recover: RepositoryChanges['recover'] } => {
    const { store, clock, log, dataDirectory } = node;
    const changes = createRepositoryChanges({ store, git, clock, log, step });
    return { results: createResults({ store, git, dataDirectory, changes }), recover: changes.recover };
  };
  /** What the whole apply makes of the repository, which is then as it was again. */
  const whole = async (given: Apply): Promise<{ before: Look; after: Look; restore: () => void }> => {
    const restore = save();
    const before = look();
    await node.results.apply(given);
    const after = look();
    restore();
    return { before, after, restore };
  };
  return { node, root, apply, look, lifeOf, whole };
};

export type ApplyPlace = Awaited<ReturnType<typeof openApplyPlace>>;
