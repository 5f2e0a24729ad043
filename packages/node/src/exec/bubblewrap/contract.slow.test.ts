import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeBackend } from '../../../test/conformance/describe-backend.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { bubblewrapFactory } from './index.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
const root = process.getuid?.() === 0;
const NOBODY = 65534;

describeBackend(
  root ? 'bubblewrap as root' : 'bubblewrap as a user',
  (place) => bubblewrapFactory({ keeper, variables: process.env, ...place }).make({}),
  {
    confines: { files: true, network: true, processes: true },
    enforces: { memory: root, processes: root },
  },
);

const top = join(import.meta.dirname, '../../../../..');

type Report = {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

const asNobody = { cwd: top, uid: NOBODY, gid: NOBODY };

/** Whether that user can read the sources at all: a clone below a closed directory is not theirs to test. */
const nobodyReadsSources = (): boolean => spawnSync('cat', [import.meta.filename], { ...asNobody, stdio: 'ignore' }).status === 0;

/** Runs this file again as a user without rights, with a home and a temporary directory of its own. */
const runAsNobody = async (): Promise<{ failures: string[]; passed: number }> => {
  const home = mkdtempSync(join(tmpdir(), 'orrery-nobody-'));
  try {
    chownSync(home, NOBODY, NOBODY);
    chmodSync(home, 0o700);
    const report = join(home, 'report.json');
    const reporting = ['--reporter', 'json', '--outputFile', report, '--no-cache', '--configLoader', 'native'];
    const args = ['run', '--config', 'vitest.slow.config.ts', ...reporting, relative(top, import.meta.filename)];
    const child = spawn(process.execPath, [join(top, 'node_modules/vitest/vitest.mjs'), ...args], {
      ...asNobody,
      env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, ORRERY_TEST_AS: 'nobody' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString();
    });
    await once(child, 'close');
    if (!existsSync(report)) throw new Error(`no report was written: ${said.slice(-4000)}`);
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const failed = testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'failed');
    return {
      passed: numPassedTests,
      failures: failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join(' ')}`),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

describe.runIf(process.env.ORRERY_TEST_AS === undefined)('bubblewrap as a user without rights', () => {
  // Skipped aloud: a report of a run that was not root's shows that this was not tried.
  it.skipIf(!root)('all the same cases hold', { timeout: 600_000 }, async ({ skip }) => {
    skip(!nobodyReadsSources(), 'the sources lie in a directory that other users cannot read');
    const { failures, passed } = await runAsNobody();
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  });
});
