import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyTree } from './copy-tree.ts';
import { diskUse } from './disk-use.ts';
import { absoluteBytes } from './tree-walk.ts';

let root = '';
let from = '';
let to = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-copy-'));
  [from, to] = [join(root, 'from'), join(root, 'to')];
  for (const made of [from, to]) mkdirSync(made);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const fill = (): void => {
  mkdirSync(join(from, 'folder/deep'), { recursive: true });
  writeFileSync(join(from, 'folder/deep/file'), 'content');
  writeFileSync(join(from, 'program'), '#!/bin/sh\n');
  chmodSync(join(from, 'program'), 0o755);
  writeFileSync(join(from, 'closed'), 'closed');
  chmodSync(join(from, 'closed'), 0o400);
  writeFileSync(absoluteBytes(from, '\xff\xfe'), 'bytes');
  symlinkSync('/etc/passwd', join(from, 'link'));
  symlinkSync('folder', join(from, 'inner'));
  utimesSync(join(from, 'program'), 1_000_000_000, 1_000_000_000);
};

describe('a copy of a tree', () => {
  it('has contents, modes, times and links as they are, and follows none', async () => {
    fill();
    expect(await copyTree(from, to)).toEqual({ notes: [] });
    expect(readFileSync(join(to, 'folder/deep/file'), 'utf8')).toBe('content');
    expect([statSync(join(to, 'program')).mode & 0o777, statSync(join(to, 'closed')).mode & 0o777]).toEqual([0o755, 0o400]);
    expect(statSync(join(to, 'program')).mtimeMs).toBe(1_000_000_000_000);
    expect(readlinkSync(join(to, 'link'))).toBe('/etc/passwd');
    expect(readlinkSync(join(to, 'inner'))).toBe('folder');
    expect(readFileSync(absoluteBytes(to, '\xff\xfe'), 'utf8')).toBe('bytes');
  });

  it('takes away what the source does not have, also what is another kind of thing there, and touches nothing behind links', async () => {
    fill();
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'precious');
    symlinkSync(outside, join(to, 'folder'));
    mkdirSync(join(to, 'program/in/it'), { recursive: true });
    writeFileSync(join(to, 'extra'), '');
    await copyTree(from, to);
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('precious');
    expect([existsSync(join(outside, 'deep')), existsSync(join(to, 'extra'))]).toEqual([false, false]);
    expect([lstatSync(join(to, 'folder')).isDirectory(), lstatSync(join(to, 'program')).isFile()]).toEqual([true, true]);
  });

  it('shares nothing with its source, and hands no set-user bit on', async () => {
    writeFileSync(join(from, 'a'), 'a');
    chmodSync(join(from, 'a'), 0o4755);
    execFileSync('ln', [join(from, 'a'), join(from, 'b')]);
    await copyTree(from, to);
    writeFileSync(join(to, 'a'), 'changed');
    expect([readFileSync(join(from, 'a'), 'utf8'), readFileSync(join(to, 'b'), 'utf8')]).toEqual(['a', 'a']);
    expect(statSync(join(to, 'a')).mode & 0o7000).toBe(0);
  });

  it('is refused where a link stands in the place of either', async () => {
    fill();
    symlinkSync(to, join(root, 'link-to'));
    symlinkSync(from, join(root, 'link-from'));
    writeFileSync(join(to, 'precious'), 'precious');
    await expect(copyTree(from, join(root, 'link-to'))).rejects.toMatchObject({ code: 'path_refused' });
    await expect(copyTree(join(root, 'link-from'), to)).rejects.toMatchObject({ code: 'path_refused' });
    expect(readFileSync(join(to, 'precious'), 'utf8')).toBe('precious');
  });

  it('leaves special files out and says so, and can be repeated', async () => {
    fill();
    execFileSync('mkfifo', [join(from, 'fifo')]);
    await copyTree(from, to);
    const again = await copyTree(from, to);
    expect(again.notes).toEqual([expect.stringContaining('fifo')]);
    expect(existsSync(join(to, 'fifo'))).toBe(false);
  });
});

describe('the disk use of a tree', () => {
  it('counts blocks, several names of a file once, links not at all beyond themselves, and a missing tree as nothing', async () => {
    const empty = await diskUse(from);
    writeFileSync(join(from, 'a'), Buffer.alloc(1_000_000, 1));
    execFileSync('ln', [join(from, 'a'), join(from, 'b')]);
    symlinkSync('/usr', join(from, 'usr'));
    const bytes = (await diskUse(from)) - empty;
    expect(bytes).toBeGreaterThanOrEqual(1_000_000);
    expect(bytes).toBeLessThan(1_200_000);
    expect(await diskUse(join(root, 'nothing'))).toBe(0);
  });
});
