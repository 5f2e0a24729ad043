import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeOwned, own } from './own.ts';
import { createRemover, type Remover } from './remove.ts';

let folder = '';
let root = '';
let user = '';
let failures: unknown[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-remove-')));
  root = join(folder, 'data');
  user = join(folder, 'user');
  mkdirSync(root);
  mkdirSync(user);
  writeFileSync(join(user, 'precious.txt'), 'precious');
  failures = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const remover = (options: { protectedPaths?: string[]; mounts?: string[]; stopping?: AbortSignal } = {}): Remover =>
  createRemover({
    root,
    trash: join(root, '.trash'),
    protectedPaths: async () => options.protectedPaths ?? [user],
    onFailure: (thrown) => failures.push(thrown),
    stopping: options.stopping,
    ...(options.mounts === undefined ? {} : { mounts: async () => options.mounts ?? [] }),
  });

const fill = (path: string): void => {
  mkdirSync(join(path, 'a/b'), { recursive: true });
  for (let at = 0; at < 500; at++) writeFileSync(join(path, 'a/b', `f${at}`), 'x');
  symlinkSync(user, join(path, 'link-to-folder'));
  symlinkSync(join(user, 'precious.txt'), join(path, 'a/link-to-file'));
  symlinkSync('/nonexistent', join(path, 'dangling'));
  writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff])]), 'x');
  chmodSync(join(path, 'a/b'), 0o500);
};

describe('the deletion path', () => {
  it('takes a recorded directory away at once, deletes it behind, and follows no link', async () => {
    const directory = await makeOwned(join(root, 'slot'));
    fill(directory.path);
    const removes = remover();
    expect(await removes.remove(directory)).toBe('removed');
    expect(existsSync(directory.path)).toBe(false);
    await removes.settled();
    expect({
      trash: readdirSync(join(root, '.trash')),
      precious: readFileSync(join(user, 'precious.txt'), 'utf8'),
      failures,
    }).toEqual({ trash: [], precious: 'precious', failures: [] });
    expect(await removes.remove(directory)).toBe('absent');
  });

  it('deletes folders in folders that no path reaches', async () => {
    const directory = await makeOwned(join(root, 'slot'));
    const chain = 'd'.repeat(200);
    const deeper = `i=0; while [ $i -lt 60 ]; do mkdir ${chain} && cd -P ${chain} || exit 1; i=$((i+1)); done; echo x > leaf`;
    execFileSync('sh', ['-c', deeper], { cwd: directory.path });
    const removes = remover();
    expect(await removes.remove(directory)).toBe('removed');
    await removes.settled();
    expect({ trash: readdirSync(join(root, '.trash')), failures }).toEqual({ trash: [], failures: [] });
  });

  it('sweeps what an earlier start left in the trash', async () => {
    mkdirSync(join(root, '.trash'));
    mkdirSync(join(root, '.trash/old'));
    fill(join(root, '.trash/old'));
    await remover().sweep();
    expect({ trash: readdirSync(join(root, '.trash')), user: readdirSync(user) }).toEqual({ trash: [], user: ['precious.txt'] });
  });

  it('deletes no more once the node stops; what is left waits for the next start', async () => {
    const first = await makeOwned(join(root, 'first'));
    const second = await makeOwned(join(root, 'second'));
    for (const { path } of [first, second]) fill(path);
    const stopping = new AbortController();
    const removes = remover({ stopping: stopping.signal });
    await removes.remove(first);
    stopping.abort();
    expect(await removes.remove(second)).toBe('removed');
    await removes.settled();
    expect({
      there: [first, second].map(({ path }) => existsSync(path)),
      trash: readdirSync(join(root, '.trash')).length,
      failures,
    }).toEqual({ there: [false, false], trash: 2, failures: [] });
    await remover().sweep();
    expect({ trash: readdirSync(join(root, '.trash')), failures }).toEqual({ trash: [], failures: [] });
  });

  const refuses = async (
    directory: { path: string; device: number; inode: number },
    options: Parameters<typeof remover>[0] = {},
  ): Promise<void> => {
    await expect(remover(options).remove(directory)).rejects.toMatchObject({ code: 'path_refused' });
    expect(readFileSync(join(user, 'precious.txt'), 'utf8')).toBe('precious');
  };

  it('refuses another directory that took the place of the recorded one', async () => {
    const directory = await makeOwned(join(root, 'slot'));
    await refuses({ ...directory, inode: directory.inode + 1 });
    await refuses({ ...directory, device: directory.device + 1 });
    expect(existsSync(directory.path)).toBe(true);
  });

  it('refuses a link and a file in its place', async () => {
    const directory = await makeOwned(join(root, 'slot'));
    rmSync(directory.path, { recursive: true });
    symlinkSync(user, directory.path);
    await refuses(directory);
    unlinkSync(directory.path);
    writeFileSync(directory.path, '');
    await refuses(directory);
  });

  it('refuses the user’s own checkout, what holds it, what lies in it, and what leads to it through a link', async () => {
    await refuses(own(user), { protectedPaths: [user] });
    const inside = await makeOwned(join(root, 'outer/inner'));
    await refuses(own(join(root, 'outer')), { protectedPaths: [inside.path] });
    await refuses(inside, { protectedPaths: [inside.path] });
    await refuses(inside, { protectedPaths: [join(root, 'outer')] });
    symlinkSync(inside.path, join(folder, 'alias'));
    await refuses(inside, { protectedPaths: [join(folder, 'alias')] });
  });

  it('refuses whatever lies outside the data directory, also through a link on the way', async () => {
    await refuses(own(user), { protectedPaths: [] });
    symlinkSync(user, join(root, 'way'));
    mkdirSync(join(user, 'sub'));
    await refuses(own(join(root, 'way/sub')), { protectedPaths: [] });
    expect(existsSync(join(user, 'sub'))).toBe(true);
    await refuses(own(root), { protectedPaths: [] });
  });

  it('refuses a directory that something is mounted in', async () => {
    const directory = await makeOwned(join(root, 'slot'));
    await refuses(directory, { mounts: [join(directory.path, 'mnt')] });
    await refuses(directory, { mounts: [directory.path] });
  });
});
