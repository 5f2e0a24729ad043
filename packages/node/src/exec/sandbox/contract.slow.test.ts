import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeBackend } from '../../../test/conformance/describe-backend.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { sandboxFactory } from './index.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
const root = process.getuid?.() === 0;
const NOBODY = 65534;

describeBackend(
  root ? 'sandbox as root' : 'sandbox as a user',
  (place) => sandboxFactory({ keeper, variables: process.env, ...place }).make({}),
  {
    confines: { files: true, network: true, processes: true },
    enforces: { memory: root, processes: root },
  },
);

const top = join(import.meta.dirname, '../../../../..');

/** Runs this file again as a user without rights, with a home and a temporary directory of its own. */
const runAsNobody = async (): Promise<{ code: number | null; output: string }> => {
  const home = mkdtempSync(join(tmpdir(), 'orrery-nobody-'));
  chownSync(home, NOBODY, NOBODY);
  chmodSync(home, 0o700);
  const vitest = join(top, 'node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'run',
    '--config',
    'vitest.slow.config.ts',
    '--configLoader',
    'native',
    '--no-cache',
    '--reporter',
    'json',
    'packages/node/src/exec/sandbox/contract.slow.test.ts',
  ];
  const child = spawn(process.execPath, args, {
    cwd: top,
    uid: NOBODY,
    gid: NOBODY,
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, ORRERY_TEST_AS: 'nobody' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  rmSync(home, { recursive: true, force: true });
  return { code, output };
};

describe.runIf(process.env.ORRERY_TEST_AS === undefined)('sandbox as a user without rights', () => {
  // Loud: a machine where the tests do not run as root says in its report that this was not tried.
  it.skipIf(!root)('all the same cases hold', { timeout: 300_000 }, async () => {
    const { code, output } = await runAsNobody();
    const summary = /"numFailedTests":\d+|"numPassedTests":\d+/g;
    expect({ code, failed: output.match(summary), output: code === 0 ? '' : output.slice(-20_000) }).toMatchObject({ code: 0 });
    expect(Number(/"numPassedTests":(\d+)/.exec(output)?.[1])).toBeGreaterThan(40);
  });
});
