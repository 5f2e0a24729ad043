import { setTimeout as sleep } from 'node:timers/promises';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, gitShapes, plainRepository, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { besideRemote } from '../git/submodule-source.ts';

let node: GitNode;
beforeEach(async () => {
  node = await openGitNode({ warmSlots: 1 });
});
afterEach(() => node.close());

const addModule = (root: string, from: string, path: string): void => {
  gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', from, path);
};

const claim = async (root: string, taskId = 'tsk_a') => {
  const project = await node.projects.add({ source: root });
  const baseSha = await node.projects.resolveBase(project.id, null);
  return { projectId: project.id, baseSha, checkout: await node.workspace.claim({ projectId: project.id, taskId, baseSha }) };
};

/** A repository whose `.gitmodules` anybody wrote, with a submodule at each path. */
const hostile = (modules: string, paths: readonly string[] = ['lib']): string => {
  const { root } = plainRepository(node.folder, { name: 'hostile' });
  writeFiles(root, { '.gitmodules': modules });
  gitIn(root, 'add', '.gitmodules');
  for (const path of paths) gitIn(root, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},${path}`);
  gitIn(root, 'commit', '-q', '-m', 'modules');
  return root;
};
const entry = (name: string, path: string, url: string): string => `[submodule "${name}"]\n\tpath = ${path}\n\turl = ${url}\n`;

describe('submodules', () => {
  it('are filled with their history, and Git in the checkout finds everything clean', async () => {
    const { root } = gitShapes.submodules(node.folder);
    const { checkout } = await claim(root);
    expect(await node.workspace.fillModules(checkout.id, 'none')).toEqual([]);
    const [sha] = await node.workspace.fillModules(checkout.id, 'shallow');
    const inside = join(checkout.path, 'vendor/library');
    expect([gitIn(inside, 'rev-parse', 'HEAD'), gitIn(inside, 'status', '--porcelain')]).toEqual([sha, '']);
    expect(gitIn(inside, 'log', '--format=%s')).toBe(gitIn(join(root, 'vendor/library'), 'log', '--format=%s'));
    expect(gitIn(inside, 'fsck', '--no-dangling')).toBe('');
    expect(gitIn(checkout.path, 'status', '--porcelain', '--ignore-submodules=none')).toBe('');
    expect(gitIn(checkout.path, 'submodule', 'status')).toMatch(new RegExp(`^ ${sha} vendor/library`));
    expect(gitIn(inside, 'remote')).toBe('');
    // A start of the node that was cut off in the middle does it again.
    expect(await node.workspace.fillModules(checkout.id, 'shallow')).toEqual([sha]);
    expect(gitIn(checkout.path, 'status', '--porcelain')).toBe('');
    const collected = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect([collected.files, collected.notes]).toEqual([[], []]);
  });

  it('of submodules are filled by `recursive` alone', async () => {
    const inner = plainRepository(node.folder, { name: 'inner' }).root;
    const outer = plainRepository(node.folder, { name: 'outer' }).root;
    addModule(outer, inner, 'in');
    commitAll(outer, 'inner');
    const { root } = plainRepository(node.folder, { name: 'top' });
    addModule(root, outer, 'out');
    gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init', '--recursive');
    commitAll(root, 'outer');
    const { checkout } = await claim(root);
    expect(await node.workspace.fillModules(checkout.id, 'shallow')).toHaveLength(1);
    expect(existsSync(join(checkout.path, 'out/in/README.md'))).toBe(false);
    expect(await node.workspace.fillModules(checkout.id, 'recursive')).toHaveLength(2);
    expect(existsSync(join(checkout.path, 'out/in/README.md'))).toBe(true);
    for (const path of ['.', 'out', 'out/in']) expect(gitIn(join(checkout.path, path), 'status', '--porcelain')).toBe('');
    writeFiles(checkout.path, { 'out/in/deep.txt': 'deep\n' });
    const { notes } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes.filter((note) => note.includes('kept as'))).toEqual([
      expect.stringContaining('the submodule out/in is kept as'),
    ]);
  });

  it('keep what was done in them beside the result, saved before they are cleaned', async () => {
    const { root } = gitShapes.submodules(node.folder);
    const { checkout, projectId, baseSha } = await claim(root);
    await node.workspace.fillModules(checkout.id, 'shallow');
    const inside = join(checkout.path, 'vendor/library');
    writeFiles(inside, { 'committed.txt': 'committed\n' });
    commitAll(inside, 'in the submodule');
    writeFiles(inside, { 'left.txt': 'left\n' });
    gitIn(checkout.path, 'add', 'vendor/library');
    gitIn(checkout.path, 'commit', '-q', '-m', 'another commit of it');
    await expect(node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).rejects.toMatchObject({
      code: 'unsaved_work',
      details: { reasons: expect.arrayContaining(['work in submodules']) },
    });
    const { notes } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes.join('\n')).toMatch(/the submodule vendor\/library was changed: a result names a commit of it at most/);
    const ref = /the submodule vendor\/library is kept as (\S+)/.exec(notes.join('\n'))?.[1] ?? '';
    const mirror = node.workspace.mirrorOf(projectId);
    expect(gitIn(mirror, 'show', `${ref}:left.txt`)).toBe('left');
    expect(gitIn(mirror, 'show', `${ref}~1:committed.txt`)).toBe('committed');
    // What is not committed is a commit made anew at each look, with another second in it.
    await sleep(1_100);
    expect(await node.workspace.release(checkout.id, { salvage: false, reason: 'test' })).toEqual([]);
    await node.workspace.settled();
    // What the submodule did not have before is there twice: saved, and aside.
    const [aside] = await node.workspace.aside();
    expect(readdirSync(join(aside?.path ?? '', 'vendor/library')).sort()).toEqual(['committed.txt', 'left.txt']);
    const next = await node.workspace.claim({ projectId, taskId: 'tsk_b', baseSha });
    expect([next.warm, existsSync(join(next.path, 'vendor/library/README.md'))]).toEqual([true, false]);
    await node.workspace.fillModules(next.id, 'shallow');
    expect(gitIn(next.path, 'status', '--porcelain')).toBe('');
  });

  it('whose folder or Git directory an agent replaced cost nothing else of its work', async () => {
    const { root } = gitShapes.submodules(node.folder);
    const { checkout } = await claim(root);
    await node.workspace.fillModules(checkout.id, 'shallow');
    rmSync(join(checkout.path, '.git/modules'), { recursive: true });
    mkdirSync(join(checkout.path, '.git/modules'));
    writeFiles(checkout.path, { 'work.txt': 'work\n' });
    const { files, notes } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(files.map(({ path }) => path)).toEqual(['work.txt']);
    expect(notes).toEqual([expect.stringContaining('the submodule vendor/library is gone')]);
    await node.workspace.release(checkout.id, { salvage: true, reason: 'test' });
    await node.workspace.settled();
  });

  const refusals: Record<string, readonly [make: () => string, why: RegExp]> = {
    'a command for a URL': [() => hostile(entry('lib', 'lib', 'ext::sh -c touch% /tmp/orrery-never')), /not fetched over ext/],
    'a file descriptor for a URL': [() => hostile(entry('lib', 'lib', 'fd::17')), /not fetched over fd/],
    'a URL with a credential': [
      () => hostile(entry('lib', 'lib', 'https://user:secret@example.com/x.git')),
      /carries credentials/,
    ],
    'a URL that is an option': [() => hostile(entry('lib', 'lib', '--upload-pack=touch')), /no https or ssh URL/],
    'a host that is an option': [() => hostile(entry('lib', 'lib', 'ssh://-oProxyCommand=x/y')), /not a URL/],
    'a URL with a line break': [() => hostile(entry('lib', 'lib', '"https://example.com/\\n../x"')), /not a URL/],
    'a file URL': [() => hostile(entry('lib', 'lib', 'file:///etc')), /no https or ssh URL/],
    'another host by ssh': [() => hostile(entry('lib', 'lib', 'git@example.com:x/y.git')), /another host, by ssh/],
    "a repository of the user's that the clone was not set up with": [
      () => hostile(entry('lib', 'lib', plainRepository(node.folder, { name: 'private' }).root)),
      /not set up with/,
    ],
    'the same by a relative URL': [
      () => {
        plainRepository(node.folder, { name: 'private' });
        return hostile(entry('lib', 'lib', '../private'));
      },
      /not set up with/,
    ],
    'a name that leads out': [() => hostile(entry('../../lib', 'lib', 'https://example.com/x')), /name or path/],
    'a path that is an option': [() => hostile(entry('lib', '-lib', 'https://example.com/x'), ['-lib']), /name or path/],
    'no entry': [() => hostile(entry('other', 'other', 'https://example.com/x')), /no entry of its own/],
    'two entries': [
      () => hostile(entry('lib', 'lib', 'https://example.com/x') + entry('lib2', 'lib', 'https://example.com/y')),
      /no entry of its own/,
    ],
    'text that is no configuration': [() => hostile('[submodule "lib\npath'), /no entry of its own/],
    'a commit that its repository does not have': [
      () => {
        const { root } = gitShapes.submodules(node.folder);
        gitIn(root, 'update-index', '--cacheinfo', `160000,${'1'.repeat(40)},vendor/library`);
        gitIn(root, 'commit', '-q', '-m', 'lost');
        return root;
      },
      /does not give its commit/,
    ],
  };

  it.each(Object.entries(refusals))('with %s are refused in one sentence, and nothing is filled', async (_, [make, why]) => {
    const { checkout } = await claim(make());
    await expect(node.workspace.fillModules(checkout.id, 'recursive')).rejects.toMatchObject({
      code: 'repository_unusable',
      message: expect.stringMatching(why),
    });
    expect(existsSync('/tmp/orrery-never')).toBe(false);
    expect(existsSync(join(checkout.path, '.git/modules'))).toBe(false);
  });
});

it.each([
  ['https://host/team/main.git', '../lib.git', 'https://host/team/lib.git'],
  ['https://user:secret@host/team/main', '../../other/lib', 'https://host/other/lib'],
  ['git@host:team/main.git', '../lib.git', 'git@host:team/lib.git'],
  ['ssh://git@host:22/team/main', './lib', 'ssh://git@host:22/team/main/lib'],
  ['/srv/main', '../lib', '/srv/lib'],
  ['https://host/main', '../../../x', 'https://host/x'],
])('beside %s, %s is %s', (remote, url, location) => {
  expect(besideRemote(remote, url)).toBe(location);
});
