// What the self-test and the leak probe find behind the walls of bwrap: nothing, after real attempts.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isNobodysRun, nobodyReads, runAsNobody } from '../../../test/conformance/run-as-nobody.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { probeLeaks } from '../leaks.ts';
import { selftestBackend } from '../selftest.ts';
import { bubblewrapFactory } from './index.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
const installed = existsSync('/usr/bin/bwrap');
let root = '';

const backend = () => {
  const parts = { keeper, stateDir: join(root, 'data/exec'), protectedPaths: [join(root, 'data')], variables: process.env };
  return bubblewrapFactory(parts).make({});
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-bubblewrap-escape-'));
  for (const name of ['data/exec', 'person', 'checkout', 'test']) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'person/letter'), 'x');
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe.skipIf(!installed)('behind bubblewrap', () => {
  it('no attempt gets out, and what must work works', async () => {
    const attempts = await selftestBackend({
      backend: backend(),
      directory: join(root, 'test'),
      closed: [
        { name: 'data', path: join(root, 'data') },
        { name: 'home', path: join(root, 'person') },
        { name: 'shadow', path: '/etc/shadow' },
        { name: 'resolver', path: '/etc/resolv.conf' },
        { name: 'tmp', path: '/tmp' },
      ],
    });
    expect(attempts.length).toBeGreaterThan(60);
    expect(attempts.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('no secret of the node, of its neighbours or of the run is found, after a real search', async () => {
    const report = await probeLeaks({
      backend: backend(),
      keeper,
      directory: join(root, 'test'),
      plantIn: { data: join(root, 'data'), home: join(root, 'person'), 'another checkout': join(root, 'checkout') },
      roots: [root],
      stateDir: join(root, 'data/exec'),
    });
    expect(report.leaks).toEqual([]);
    expect(report.planted).toHaveLength(6);
    expect(report.looked.variables).toBeGreaterThan(5);
  });

  it.skipIf(isNobodysRun() || process.getuid?.() !== 0)(
    'the same for a user without rights',
    { timeout: 300_000 },
    async ({ skip }) => {
      skip(!nobodyReads(import.meta.filename), 'the sources lie in a directory that other users cannot read');
      expect(await runAsNobody(import.meta.filename)).toEqual({ failures: [], passed: 2 });
    },
  );
});
