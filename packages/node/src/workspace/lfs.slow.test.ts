import { chmodSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { gitIn, plainRepository, startLfsServer, writeFiles, type LfsServer } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { objectPath, trimObjects } from '../git/lfs/objects.ts';

const tls = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../test/tls', name));
const host = 'git.egress.test';
const picture = Buffer.from('a picture '.repeat(5000));
const sound = Buffer.from([...Array(3000).keys()].map((at) => at % 251));

const resolved: string[] = [];
/** Every name is this machine: what is refused is refused by the name's address. */
const lookup: LookupFunction = (name, options, answer) => {
  resolved.push(name);
  if (options.all === true) answer(null, [{ address: '127.0.0.1', family: 4 }]);
  else answer(null, '127.0.0.1', 4);
};

let node: GitNode;
let server: LfsServer;
beforeEach(async () => {
  resolved.length = 0;
  node = await openGitNode({ warmSlots: 1, lookup });
  server = await startLfsServer({ key: tls('server.key'), cert: tls('server.pem'), host, user: 'me:secret' });
  const helper = '!f() { echo username=me; echo password=secret; }; f';
  const config = [
    '[credential]',
    `\thelper = "${helper}"`,
    '[http]',
    `\tsslCAInfo = ${join(import.meta.dirname, '../../test/tls/ca.pem')}`,
  ];
  writeFileSync(join(node.home, '.gitconfig'), `${config.join('\n')}\n`);
});
afterEach(async () => {
  await server.close();
  await node.close();
});

/** A repository with a picture and a sound in LFS, whose remote is the server; its own clone has no objects. */
const repository = (files: Readonly<Record<string, string>> = {}): string => {
  const { root } = plainRepository(node.folder, { name: 'media' });
  writeFiles(root, {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'assets/picture.bin': server.add(picture).pointer,
    'sound.bin': server.add(sound).pointer,
    'pointer.txt': server.add(sound).pointer,
    ...files,
  });
  chmodSync(join(root, 'sound.bin'), 0o755);
  gitIn(root, 'add', '-A');
  gitIn(root, 'commit', '-q', '-m', 'media');
  gitIn(root, 'remote', 'add', 'origin', `https://${host}:${server.port}/team/media.git`);
  return root;
};

const claim = async (root: string, taskId = 'tsk_a') => {
  const project = await node.projects.add({ source: root });
  const baseSha = await node.projects.resolveBase(project.id, null);
  const checkout = await node.workspace.claim({ projectId: project.id, taskId, baseSha });
  return { projectId: project.id, baseSha, checkout, root, mirror: node.workspace.mirrorOf(project.id) };
};
const statusOf = (path: string): string => gitIn(path, 'status', '--porcelain');
const readIn = (path: string, name: string): Buffer => readFileSync(join(path, name));
const sizesIn = (mirror: string, ref: string): string[] =>
  gitIn(mirror, 'ls-tree', '-r', '-l', ref)
    .split('\n')
    .filter((line) => line.endsWith('.bin'))
    .map((line) => line.replace(/^\d+ blob [0-9a-f]+ +(\d+)\t/, '$1 '));

describe('files of Git LFS', () => {
  it('are contents in the checkout, fetched with the operator’s credentials; Git finds it clean and the result has pointers', async () => {
    const { checkout, mirror } = await claim(repository());
    expect(await node.workspace.fillLfs(checkout.id, 'pointers')).toEqual({ files: 0, bytes: 0, notes: [] });
    expect(server.asked).toEqual([]);
    const filled = await node.workspace.fillLfs(checkout.id, 'fetch');
    expect(filled).toEqual({ files: 2, bytes: picture.length + sound.length, notes: [] });
    expect([readIn(checkout.path, 'assets/picture.bin'), readIn(checkout.path, 'sound.bin')]).toEqual([picture, sound]);
    // No attribute, no file of LFS.
    expect(readIn(checkout.path, 'pointer.txt').toString()).toMatch(/^version/);
    expect(statusOf(checkout.path)).toBe('');
    expect(server.asked.slice(0, 2)).toEqual([
      'POST /team/media.git/info/lfs/objects/batch',
      'POST /team/media.git/info/lfs/objects/batch as me',
    ]);
    const secrets = gitIn(checkout.path, 'config', '--list') + readFileSync(join(mirror, 'config'), 'utf8');
    expect(secrets).not.toMatch(/secret/);
    writeFileSync(join(checkout.path, 'new.txt'), 'new\n');
    const { files, notes, resultRef } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect([files.map(({ path }) => path), notes]).toEqual([['new.txt'], []]);
    expect(sizesIn(mirror, resultRef)).toEqual(
      ['129 assets/picture.bin', '129 sound.bin'].map((line) => expect.stringMatching(line.replace(/^\d+/, '\\d{3}'))),
    );
  });

  it('are fetched once for a project, and a damaged one of them again', async () => {
    const { checkout, mirror, projectId, baseSha } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    const before = server.asked.length;
    const second = await node.workspace.claim({ projectId, taskId: 'tsk_b', baseSha });
    await node.workspace.fillLfs(second.id, 'fetch');
    expect(server.asked.length).toBe(before);
    const { oid } = server.add(picture);
    writeFileSync(objectPath(mirror, oid), Buffer.alloc(picture.length));
    const third = await node.workspace.claim({ projectId, taskId: 'tsk_c', baseSha });
    await node.workspace.fillLfs(third.id, 'fetch');
    expect(readIn(third.path, 'assets/picture.bin')).toEqual(picture);
    expect(server.asked.slice(before).filter((line) => line.startsWith('GET'))).toEqual([
      `GET /team/media.git/info/lfs/objects/${oid} as me`,
    ]);
    // What one agent writes is its own.
    writeFileSync(join(second.path, 'sound.bin'), 'mine');
    expect([readIn(checkout.path, 'sound.bin'), readFileSync(objectPath(mirror, server.add(sound).oid))]).toEqual([sound, sound]);
  });

  it('are taken from the user’s own clone when it has them, and from nowhere else when there is no server', async () => {
    const root = repository();
    gitIn(root, 'remote', 'set-url', 'origin', '/srv/somewhere.git');
    const { checkout } = await claim(root);
    await expect(node.workspace.fillLfs(checkout.id, 'fetch')).rejects.toMatchObject({
      code: 'repository_unusable',
      message: expect.stringMatching(/2 objects are not on this machine/),
      fix: expect.stringMatching(/lfs: pointers/),
    });
    for (const content of [picture, sound]) {
      const path = objectPath(join(root, '.git'), server.add(content).oid);
      writeFiles(root, { [path.slice(root.length + 1)]: '' });
      writeFileSync(path, content);
    }
    await node.workspace.fillLfs(checkout.id, 'fetch');
    expect([readIn(checkout.path, 'assets/picture.bin'), server.asked]).toEqual([picture, []]);
  });

  it('that were touched, moved or committed unchanged are pointers in the result; commits that hold contents are made anew', async () => {
    const { checkout, mirror } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    const now = new Date();
    utimesSync(join(checkout.path, 'assets/picture.bin'), now, now);
    gitIn(checkout.path, 'add', '-A');
    gitIn(checkout.path, 'commit', '-q', '-m', 'all of it');
    gitIn(checkout.path, 'mv', 'sound.bin', 'noise.bin');
    const { headSha, notes, resultRef, files } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes).toEqual([expect.stringMatching(/^1 of its commits are made anew: they held .*\(copy, lfs\)/)]);
    expect(files.map(({ path }) => path)).toEqual(['noise.bin']);
    expect(sizesIn(mirror, resultRef)).toEqual([expect.stringMatching(/^1\d\d assets/), expect.stringMatching(/^1\d\d noise/)]);
    // No commit on the way to it has a content either.
    const large = gitIn(
      mirror,
      'rev-list',
      '--objects',
      '--filter=blob:limit=2000',
      '--filter-print-omitted',
      resultRef,
      headSha,
    );
    expect(large).not.toMatch(/^~/m);
  });

  it('that were changed or are new are plain files of the result, and it says so and what to do', async () => {
    const { checkout, mirror } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    writeFileSync(join(checkout.path, 'sound.bin'), Buffer.alloc(5000, 'n'));
    writeFileSync(join(checkout.path, 'fresh.bin'), Buffer.alloc(2000, 'f'));
    rmSync(join(checkout.path, 'assets/picture.bin'));
    expect(
      statusOf(checkout.path)
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['D assets/picture.bin', 'M sound.bin', '?? fresh.bin']);
    const { notes, resultRef } = await node.workspace.collect(checkout.id, { attempt: 1 });
    expect(notes).toEqual([
      expect.stringMatching(
        /^fresh\.bin, sound\.bin: kept in Git LFS and changed here.*7000 bytes.*git add --renormalize fresh\.bin$/,
      ),
    ]);
    expect(sizesIn(mirror, resultRef)).toEqual(['2000 fresh.bin', '5000 sound.bin']);
  });

  it('are contents again after going back to a checkpoint', async () => {
    const { checkout } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    const point = await node.workspace.checkpoint(checkout.id, { owner: 'ses_a', name: '1' });
    writeFileSync(join(checkout.path, 'sound.bin'), 'changed');
    writeFileSync(join(checkout.path, 'README.md'), 'changed');
    const notes = await node.workspace.restore(checkout.id, { point, reason: 'back', onSaved: async () => undefined });
    expect([notes, readIn(checkout.path, 'sound.bin'), readIn(checkout.path, 'assets/picture.bin')]).toEqual([
      [],
      sound,
      picture,
    ]);
    expect(statusOf(checkout.path)).toBe('');
  });

  it('leave a slot that is clean for the next task, which has pointers or contents as it wants', async () => {
    const { checkout, projectId, baseSha } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    await node.workspace.collect(checkout.id, { attempt: 1 });
    await node.workspace.release(checkout.id, { salvage: true, reason: 'done' });
    await node.workspace.settled();
    const next = await node.workspace.claim({ projectId, taskId: 'tsk_b', baseSha });
    expect([next.warm, next.path]).toEqual([true, checkout.path]);
    expect(readIn(next.path, 'sound.bin').toString()).toMatch(/^version/);
    expect([statusOf(next.path), existsSync(join(next.path, '../lfs.json'))]).toEqual(['', false]);
    await node.workspace.fillLfs(next.id, 'fetch');
    expect([readIn(next.path, 'sound.bin'), statusOf(next.path)]).toEqual([sound, '']);
  });
});

describe('a Git LFS server', () => {
  it('is the remote’s: a repository names no other host, and its own place on that host at most', async () => {
    const { checkout } = await claim(repository({ '.lfsconfig': '[lfs]\n\turl = https://evil.egress.test/lfs\n' }));
    const { notes } = await node.workspace.fillLfs(checkout.id, 'fetch');
    expect(notes).toEqual([expect.stringMatching(/^\.lfsconfig names evil\.egress\.test, which is not the host/)]);
    expect(resolved).not.toContain('evil.egress.test');
  });

  it('may be at another place of the same host', async () => {
    const { checkout } = await claim(
      repository({ '.lfsconfig': `[lfs]\n\turl = https://${host}:${server.port}/other/info/lfs\n` }),
    );
    await node.workspace.fillLfs(checkout.id, 'fetch');
    expect(server.asked.filter((line) => !line.includes('/other/info/lfs/'))).toEqual([]);
  });

  it('that fails in any way gives nothing, and the checkout keeps its pointers', async () => {
    const { checkout, mirror } = await claim(repository());
    const faults = [
      ['other-content', /is something else/],
      ['too-much', /is larger than its/],
      ['breaks-off', /broke off after/],
      ['unknown', /does not have the object/],
      ['no-json', /does not answer as a Git LFS server/],
    ] as const;
    for (const [fault, said] of faults) {
      server.behave(fault);
      await expect(node.workspace.fillLfs(checkout.id, 'fetch'), fault).rejects.toMatchObject({
        code: 'repository_unusable',
        message: expect.stringMatching(said),
      });
      expect(readIn(checkout.path, 'sound.bin').toString()).toMatch(/^version/);
      expect(existsSync(objectPath(mirror, server.add(sound).oid))).toBe(false);
    }
    server.behave('none');
    await node.workspace.fillLfs(checkout.id, 'fetch');
    expect(readIn(checkout.path, 'sound.bin')).toEqual(sound);
  });

  it('that sends a download on to an address inside is not followed, and nobody else gets the credentials', async () => {
    const { checkout } = await claim(repository());
    server.behave('sends-on', `https://cdn.egress.test:${server.port}/x`);
    await expect(node.workspace.fillLfs(checkout.id, 'fetch')).rejects.toMatchObject({
      message: expect.stringMatching(/cdn\.egress\.test is an address of a private network/),
    });
    server.behave('sends-on', `https://127.0.0.1:${server.port}/x`);
    await expect(node.workspace.fillLfs(checkout.id, 'fetch')).rejects.toMatchObject({
      message: expect.stringMatching(/127\.0\.0\.1 is an address of a private network/),
    });
    expect(server.asked.filter((line) => line.includes('/x'))).toEqual([]);
  });

  it('that wants credentials of which the operator has none is said', async () => {
    writeFileSync(join(node.home, '.gitconfig'), `[http]\n\tsslCAInfo = ${join(import.meta.dirname, '../../test/tls/ca.pem')}\n`);
    const { checkout } = await claim(repository());
    await expect(node.workspace.fillLfs(checkout.id, 'fetch')).rejects.toMatchObject({
      message: expect.stringMatching(/wants credentials/),
      rule: expect.stringMatching(/git credential fill/),
    });
  });
});

describe('objects that are kept', () => {
  it('go by their last use when they are too many, and never those of the checkout that is filled', async () => {
    const { checkout, mirror } = await claim(repository());
    await node.workspace.fillLfs(checkout.id, 'fetch');
    const [one, other] = [server.add(picture).oid, server.add(sound).oid];
    utimesSync(objectPath(mirror, one), 1, 1);
    await trimObjects(mirror, new Set([one]), picture.length);
    expect([one, other].map((oid) => existsSync(objectPath(mirror, oid)))).toEqual([true, false]);
  });
});
