import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitIn, plainRepository } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listRefs, makeMirror, refreshMirror, writeRef } from './mirror.ts';
import { createGit } from './run.ts';

let folder = '';
let mirror = '';
let sha = '';
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-mirror-'));
  mirror = join(folder, 'mirror.git');
  await makeMirror(mirror);
  const { sha: head } = await refreshMirror(createGit(), mirror, {
    location: plainRepository(folder).root,
    protocols: ['file'],
  });
  sha = head ?? '';
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a ref of the node that is written by hand', () => {
  const ref = 'refs/orrery/results/tsk_a/1';

  it('is one to Git, new or set again, and Git moves and removes it', async () => {
    await writeRef(mirror, { ref, sha });
    await writeRef(mirror, { ref, sha });
    expect(await listRefs(createGit(), mirror, 'refs/orrery/results/')).toEqual([{ ref, sha }]);
    expect([gitIn(mirror, 'rev-parse', ref), gitIn(mirror, 'fsck', '--no-dangling')]).toEqual([sha, '']);
    gitIn(mirror, 'update-ref', '-d', ref, sha);
    expect(await listRefs(createGit(), mirror, 'refs/orrery/results/')).toEqual([]);
  });

  it('is not held up by the lock of a Git that was ended', async () => {
    await writeRef(mirror, { ref, sha });
    writeFileSync(join(mirror, `${ref}.lock`), '');
    await writeRef(mirror, { ref, sha });
    expect(readFileSync(join(mirror, ref), 'utf8')).toBe(`${sha}\n`);
  });

  it.each([
    ['refs/heads/main', 'a'.repeat(40)],
    ['refs/orrery/../heads/main', 'a'.repeat(40)],
    ['refs/orrery/base/x', 'HEAD'],
    ['refs/orrery/base/x', ''],
  ])('is never %s → %s', async (other, to) => {
    await expect(writeRef(mirror, { ref: other, sha: to })).rejects.toThrow('cannot be set');
  });
});
