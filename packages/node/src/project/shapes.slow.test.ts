import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, gitShapes, largeRepository, plainRepository, type ShapeName } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';

let node: GitNode;
beforeEach(async () => {
  node = await openGitNode();
});
// A folder of 60,000 files takes its time on a busy disk.
afterEach(() => node.close(), 300_000);

/** Everything of a repository that a fetch or an apply may not change. */
const fingerprint = (root: string): string => {
  const gitDir = gitIn(root, 'rev-parse', '--absolute-git-dir');
  const refs = gitIn(root, 'for-each-ref');
  return JSON.stringify({
    config: readFileSync(join(gitIn(root, 'rev-parse', '--path-format=absolute', '--git-common-dir'), 'config'), 'utf8'),
    refs,
    entries: readdirSync(gitDir).sort(),
    head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
  });
};

const works: Partial<Record<ShapeName, { branch: string | null; notes: RegExp[] }>> = {
  plain: { branch: 'main', notes: [] },
  emptyFirstCommit: { branch: 'main', notes: [/first commit is empty/] },
  detachedHead: { branch: null, notes: [/HEAD is detached/] },
  otherDefaultBranch: { branch: 'trunk', notes: [] },
  dirtyTree: { branch: 'main', notes: [/uncommitted changes \(src\/main\.txt, new\.txt\) are not part of tasks/] },
  submodules: { branch: 'main', notes: [/submodules are not filled in checkouts unless .*: vendor\/library/] },
  lfs: { branch: 'main', notes: [/Git LFS are pointers/] },
  spacesAndUnicode: { branch: 'main', notes: [] },
  symlinkedCheckout: { branch: 'main', notes: [/leads through a link/] },
  subfolder: { branch: 'main', notes: [/added by its root/] },
  linkedWorktree: { branch: 'feature/linked', notes: [/linked worktree of/] },
  emptyRemoteUrl: { branch: 'main', notes: [] },
  slashBranch: { branch: 'team/feature/one', notes: [] },
  branchElsewhere: { branch: 'main', notes: [] },
  shallowClone: { branch: 'main', notes: [/shallow clone/] },
  bare: { branch: 'main', notes: [/bare repository/] },
};

describe('a repository of the shape', () => {
  it.each(Object.entries(works))(
    '%s is added, gives a clean checkout at its HEAD, and is not written to',
    async (name, expected) => {
      const shape = gitShapes[name as ShapeName](node.folder);
      const before = fingerprint(shape.root);
      const project = await node.projects.add({ source: shape.path });
      const headSha = gitIn(shape.root, 'rev-parse', 'HEAD');
      expect({ source: project.source, branch: project.defaultBranch, head: project.headSha }).toEqual({
        source: shape.root,
        branch: expected.branch,
        head: headSha,
      });
      expect(project.notes).toEqual(expected.notes.map((note) => expect.stringMatching(note)));
      expect((await node.projects.add({ source: shape.path })).id).toBe(project.id);

      const baseSha = await node.projects.resolveBase(project.id, null);
      const checkout = await node.workspace.claim({ projectId: project.id, taskId: 'tsk_shape', baseSha });
      expect(gitIn(checkout.path, 'status', '--porcelain', '--branch')).toBe('## orrery/tsk_shape');
      expect(gitIn(checkout.path, 'rev-parse', 'HEAD')).toBe(headSha);
      expect(gitIn(checkout.path, 'remote')).toBe('');
      expect(gitIn(checkout.path, 'fsck', '--no-dangling')).toBe('');
      expect(gitIn(checkout.path, 'log', '--format=%H')).toBe(gitIn(shape.root, 'log', '--format=%H'));
      const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
      expect(collected).toEqual({
        baseSha,
        headSha: baseSha,
        resultRef: 'refs/orrery/results/tsk_shape/1',
        commits: 0,
        files: [],
        insertions: 0,
        deletions: 0,
        uncommitted: false,
        notes: [],
      });
      expect(fingerprint(shape.root)).toBe(before);
    },
  );

  it('noCommits is added and says what is missing; a task is refused in one sentence until there is a commit', async () => {
    const { root } = gitShapes.noCommits(node.folder);
    const project = await node.projects.add({ source: root });
    expect({ head: project.headSha, notes: project.notes }).toEqual({
      head: null,
      notes: ['it has no commit yet: tasks can start once there is one'],
    });
    await expect(node.projects.resolveBase(project.id, null)).rejects.toMatchObject({
      code: 'repository_unusable',
      message: 'no-commits has no commit yet.',
    });
    gitIn(root, 'commit', '-q', '--allow-empty', '-m', 'first');
    await node.projects.refresh(project.id);
    expect(await node.projects.resolveBase(project.id, null)).toBe(gitIn(root, 'rev-parse', 'HEAD'));
  });

  it.each([
    ['sha256', /uses sha256 object names/],
    ['partialClone', /is a partial clone/],
  ] as const)('%s is refused in one sentence, and nothing is left behind', async (name, sentence) => {
    const { path } = gitShapes[name](node.folder);
    await expect(node.projects.add({ source: path })).rejects.toMatchObject({
      code: 'repository_unusable',
      message: expect.stringMatching(sentence),
    });
    expect(existsSync(join(node.dataDirectory, 'mirrors'))).toBe(false);
  });

  it('20,000 files is added and gives a clean checkout', async () => {
    const { root } = largeRepository(node.folder, 20_000);
    const project = await node.projects.add({ source: root });
    const checkout = await node.workspace.claim({
      projectId: project.id,
      taskId: 'tsk_large',
      baseSha: await node.projects.resolveBase(project.id, null),
    });
    expect(gitIn(checkout.path, 'status', '--porcelain')).toBe('');
    expect(gitIn(checkout.path, 'ls-files').split('\n').length).toBe(20_000);
    expect((await node.workspace.collect(checkout.id, { attempt: 1 })).files).toEqual([]);
  }, 300_000);
});

describe('a source', () => {
  it('may be a URL, whose credentials are never kept', async () => {
    const { root } = plainRepository(node.folder);
    const project = await node.projects.add({ source: `file://${root}` });
    expect({ kind: project.kind, name: project.name, head: project.headSha }).toEqual({
      kind: 'url',
      name: 'plain',
      head: gitIn(root, 'rev-parse', 'HEAD'),
    });
    await expect(node.projects.add({ source: 'https://ada:secret@example.org/x.git' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'The URL carries credentials.',
    });
  });

  it.each([
    'ext::sh -c touch% /tmp/x',
    'http://example.org/x.git',
    'git://example.org/x',
    'ssh://-oProxyCommand=x/y',
    'relative/path',
  ])('%s is refused', async (source) => {
    await expect(node.projects.add({ source })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it.each(['/nonexistent/x', '/etc/passwd', '/proc'])('%s is refused in one sentence', async (source) => {
    await expect(node.projects.add({ source })).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_found|repository_unusable)$/),
    });
  });

  it('that lies in or around the data directory is refused', async () => {
    execFileSync('git', ['init', '-q', node.folder]);
    await expect(node.projects.add({ source: node.folder })).rejects.toMatchObject({ code: 'path_refused' });
  });

  it('is the same project by its id, name, path and any folder in it', async () => {
    const { root } = plainRepository(node.folder);
    const { id } = await node.projects.add({ source: root });
    const found = await Promise.all([id, 'plain', root, join(root, 'src')].map((reference) => node.projects.resolve(reference)));
    expect(found).toEqual(Array.from({ length: 4 }, () => ({ id, name: 'plain', path: root })));
    await expect(node.projects.resolve('/tmp')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is read as if GIT_DIR and its kind were not set', async () => {
    const { root } = plainRepository(node.folder);
    const other = plainRepository(join(node.folder, 'elsewhere'), { branch: 'other' });
    const hostile = {
      ...process.env,
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: '/nonexistent',
      GIT_OBJECT_DIRECTORY: '/nonexistent',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.bare',
      GIT_CONFIG_VALUE_0: 'true',
    };
    const misled = await openGitNode({ environment: hostile });
    try {
      const project = await misled.projects.add({ source: root });
      const checkout = await misled.workspace.claim({ projectId: project.id, taskId: 'tsk_x', baseSha: project.headSha ?? '' });
      expect({ branch: project.defaultBranch, status: gitIn(checkout.path, 'status', '--porcelain') }).toEqual({
        branch: 'main',
        status: '',
      });
    } finally {
      await misled.close();
    }
  });
});

describe('a refresh', () => {
  it('fetches only what moved, follows HEAD, survives a branch that became a folder, and keeps old commits', async () => {
    const { root } = plainRepository(node.folder);
    const { id, headSha } = await node.projects.add({ source: root });
    expect(await node.projects.refresh(id)).toEqual({ sha: headSha, branch: 'main', fetched: false });
    gitIn(root, 'branch', 'a');
    gitIn(root, 'checkout', '-q', '-b', 'gone');
    gitIn(root, 'commit', '-q', '--allow-empty', '-m', 'on gone');
    const gone = gitIn(root, 'rev-parse', 'HEAD');
    expect(await node.projects.refresh(id)).toEqual({ sha: gone, branch: 'gone', fetched: true });
    await node.workspace.claim({ projectId: id, taskId: 'tsk_gone', baseSha: gone });
    gitIn(root, 'checkout', '-q', 'main');
    gitIn(root, 'branch', '-D', 'gone');
    gitIn(root, 'branch', '-D', 'a');
    gitIn(root, 'branch', 'a/b');
    expect(await node.projects.refresh(id)).toEqual({ sha: headSha, branch: 'main', fetched: true });
    expect(await node.projects.resolveBase(id, gone)).toBe(gone);
    await expect(node.projects.resolveBase(id, 'gone')).rejects.toMatchObject({ code: 'unknown_name' });
    expect(await node.projects.resolveBase(id, 'a/b')).toBe(headSha);
  });
});
