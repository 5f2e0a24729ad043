// What programs in a pod find when they try to get out: nothing, after real attempts.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePodBackend } from '../../../test/kubernetes/backend.ts';
import { testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import { freshInstance } from '../../../test/kubernetes/provider.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { probeLeaks } from '../leaks.ts';
import { selftestBackend } from '../selftest.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-pod-escape-'));
  chmodSync(root, 0o755);
  for (const name of ['data/exec', 'person', 'checkout', 'test']) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'person/letter'), 'x');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const backend = () =>
  makePodBackend({ kubeconfig: testKubeconfig(), stateDir: join(root, 'data/exec'), instance: freshInstance() });

it('no attempt gets out, and what must work works', async () => {
  const attempts = await selftestBackend({
    backend: backend(),
    directory: join(root, 'test'),
    closed: [
      { name: 'data', path: join(root, 'data') },
      { name: 'home', path: join(root, 'person') },
      { name: 'cluster', path: testKubeconfig() },
      { name: 'shadow', path: '/etc/shadow' },
      { name: 'disks', path: '/dev/vda' },
      { name: 'keys of the kernel', path: '/proc/kcore' },
    ],
  });
  expect(attempts.filter(({ ok }) => !ok)).toEqual([]);
  expect(attempts.length).toBeGreaterThan(60);
});

it('no secret of the node, of its neighbours or of the run is found, after a real search', async () => {
  const report = await probeLeaks({
    backend: backend(),
    keeper: createKeeperClient({ binary: () => findKeeperBinary() }),
    directory: join(root, 'test'),
    plantIn: { data: join(root, 'data'), home: join(root, 'person'), 'another checkout': join(root, 'checkout') },
    roots: [root],
    stateDir: join(root, 'data/exec'),
  });
  expect(report.leaks).toEqual([]);
  expect(report.planted).toHaveLength(6);
  expect(report.looked.variables).toBeGreaterThan(5);
});
