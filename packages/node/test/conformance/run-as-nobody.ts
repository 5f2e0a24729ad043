// A test file run again by a user without rights, so that root's report shows what a plain user gets.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const NOBODY = 65534;
const top = join(import.meta.dirname, '../../../..');
const asNobody = { cwd: top, uid: NOBODY, gid: NOBODY };

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

/** Whether this process is such a second run. */
export const isNobodysRun = (): boolean => process.env.ORRERY_TEST_AS !== undefined;

/** Whether that user can read `file` at all: a clone below a closed directory is not theirs to test. */
export const nobodyReads = (file: string): boolean => spawnSync('cat', [file], { ...asNobody, stdio: 'ignore' }).status === 0;

const readReport = (path: string): { failures: string[]; passed: number } => {
  const { numPassedTests, testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  const failed = testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'failed');
  return {
    passed: numPassedTests,
    failures: failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join(' ')}`),
  };
};

/** Runs the test file `file` as that user, with a home and a temporary directory of its own. */
export const runAsNobody = async (file: string): Promise<{ failures: string[]; passed: number }> => {
  const home = mkdtempSync(join(tmpdir(), 'orrery-nobody-'));
  try {
    chownSync(home, NOBODY, NOBODY);
    chmodSync(home, 0o700);
    const report = join(home, 'report.json');
    const reporting = ['--reporter', 'json', '--outputFile', report, '--no-cache', '--configLoader', 'native'];
    const args = ['run', '--config', 'vitest.slow.config.ts', ...reporting, relative(top, file)];
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
    return readReport(report);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};
