// What tests of interrupted applies start from: a repository with work of the user's own in it, and a result for it.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
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

/** All that a person can see of a repository, and everything in its Git directory that is not Git's own. */
const lookAtRepository = (root: string) => {
  const find = (...args: string[]): string[] =>
    execFileSync('find', args, { cwd: root, encoding: 'utf8' }).trim().split('\n').sort();
  const outside = ['.', '-path', './.git', '-prune', '-o'];
  return {
    files: find(...outside, '-printf', '%p %y %m %l\n'),
    contents: find(...outside, '-type', 'f', '-print').map((path) => `${path}: ${readFileSync(join(root, path), 'utf8')}`),
    status: gitIn(root, 'status', '--porcelain', '--untracked-files=all', '--ignored'),
    index: gitIn(root, 'ls-files', '--stage'),
    tree: gitIn(root, 'rev-parse', 'HEAD^{tree}'),
    branches: gitIn(root, 'for-each-ref', '--format=%(refname) %(tree)', 'refs/heads'),
    config: readFileSync(join(root, '.git/config'), 'utf8'),
    strays: find('.git', '-name', '*.lock', '-o', '-name', 'orrery*', '-o', '-name', 'tmp_*', '-o', '-name', '*_HEAD'),
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
    execFileSync('cp', ['-a', root, saved]);
    return () => {
      rmSync(root, { recursive: true });
      execFileSync('cp', ['-a', saved, root]);
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
