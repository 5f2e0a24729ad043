// What the self-test finds behind the walls on a host: nothing, after real attempts.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { backendOn, optionsFor, sshParts } from '../../../test/ssh/places.ts';
import { leftOn } from '../../../test/ssh/stage.ts';
import { selftestBackend } from '../selftest.ts';

const ACCOUNT = 'someone';

describe.skipIf(noSshHost() !== null)('behind the walls on a host', () => {
  let host: SshHost;
  let root = '';
  beforeAll(async () => {
    host = await startSshHost({ accounts: () => [{ name: ACCOUNT, uid: 54_321, shell: '/bin/bash' }] });
    for (const account of ['root', ACCOUNT]) writeFileSync(join(host.home(account), 'letter'), 'x', { mode: 0o644 });
  });
  afterAll(() => host?.close());
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'orrery-ssh-escape-'));
    for (const name of ['data/exec', 'test']) mkdirSync(join(root, name), { recursive: true });
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it.each(['root', ACCOUNT])('of %s no attempt gets out, and what must work works', async (account) => {
    const parts = sshParts(join(root, 'data/exec'), { protectedPaths: [join(root, 'data')] });
    const home = account === 'root' ? '/root' : host.home(account);
    const attempts = await selftestBackend({
      backend: backendOn(host, parts, optionsFor(host, account)),
      directory: join(root, 'test'),
      closed: [
        { name: 'home', path: home },
        { name: 'data', path: join(root, 'data') },
        { name: 'shadow', path: '/etc/shadow' },
        { name: 'tmp', path: '/tmp' },
      ],
    });
    expect(attempts.length).toBeGreaterThan(60);
    expect(attempts.filter(({ ok }) => !ok)).toEqual([]);
    expect(leftOn(host, account)).toEqual([]);
  });
});
