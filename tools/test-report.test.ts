import { describe, expect, it } from 'vitest';
import { countNative, countSuite, requiredSkips, skippedText, totalLine } from './test-report.ts';
import type { StageResult, SuiteReport } from './test-report.ts';
import { STAGES } from './test-stages.ts';

const ended = { exitCode: 0, root: '/repo' };

function report(statuses: string[], fileStatus = 'passed'): SuiteReport {
  const assertionResults = statuses.map((status, index) => ({ status, fullName: `things test ${index}` }));
  return {
    numPassedTests: statuses.filter((status) => status === 'passed').length,
    numFailedTests: statuses.filter((status) => status === 'failed').length,
    testResults: [{ name: '/repo/packages/a/src/a.test.ts', status: fileStatus, assertionResults }],
  };
}

function result(name: string, counts: Partial<StageResult>): StageResult {
  const stage = STAGES.find((one) => one.name === name);
  if (stage === undefined) throw new Error(`no stage ${name}`);
  return { stage, passed: 0, failed: 0, skipped: [], durationMs: 1, ...counts };
}

const skipped = [
  { file: 'packages/a/src/a.test.ts', title: 'things test 1' },
  { file: 'packages/a/src/a.test.ts', title: 'things test 2' },
];

describe('counting a suite', () => {
  it('counts passed, failed and every kind of not run', () => {
    expect(countSuite(report(['passed', 'skipped', 'todo', 'failed'], 'failed'), { ...ended, exitCode: 1 })).toEqual({
      passed: 1,
      failed: 1,
      skipped,
    });
  });

  it('counts a file that did not load as a failure', () => {
    expect(countSuite(report([], 'failed'), { ...ended, exitCode: 1 })).toEqual({ passed: 0, failed: 1, skipped: [] });
  });

  it('counts a missing report, a bad end and an empty run as a failure', () => {
    expect(countSuite(undefined, ended)).toEqual({ passed: 0, failed: 1, skipped: [] });
    expect(countSuite(report(['passed']), { ...ended, exitCode: 1 })).toEqual({ passed: 1, failed: 1, skipped: [] });
    expect(countSuite(report([]), ended)).toEqual({ passed: 0, failed: 1, skipped: [] });
  });
});

describe('counting a native run', () => {
  it('takes the counts of its last counting line', () => {
    expect(countNative('3 passed, 0 failed, 0 skipped\nmore\n12 passed, 1 failed, 1 skipped\n', 1)).toEqual({
      passed: 12,
      failed: 1,
      skipped: [{ file: 'native/test.sh', title: 'skipped test 1' }],
    });
  });

  it('counts one test without a counting line, and a bad end as a failure', () => {
    expect(countNative('all well\n', 0)).toEqual({ passed: 1, failed: 0, skipped: [] });
    expect(countNative('broken\n', 2)).toEqual({ passed: 0, failed: 1, skipped: [] });
    expect(countNative('3 passed, 0 failed, 0 skipped\n', 139)).toEqual({ passed: 3, failed: 1, skipped: [] });
  });
});

describe('what did not run', () => {
  const results = [
    result('lint', { passed: 1 }),
    result('unit', { passed: 5, failed: 2, skipped }),
    result('e2e', { reason: 'no git' }),
  ];

  it('is said by stage and by file, with what the machine lacks', () => {
    expect(skippedText(results, ['no git'])).toBe(
      'NOT RUN\n  e2e: the whole stage (no git)\n  packages/a/src/a.test.ts: 2 tests (things test 1, …)\nthis machine lacks:\n  no git\n',
    );
  });

  it('is nothing when all ran', () => {
    expect(skippedText([result('lint', { passed: 1 })], ['no git'])).toBe('');
  });

  it('is a failure where everything is required, unless the table excuses it', () => {
    expect(requiredSkips(results, [])).toEqual([...skipped, { file: 'e2e', title: 'no git' }]);
    expect(requiredSkips(results, [{ pattern: /^e2e / }, { pattern: /test 2$/ }])).toEqual([skipped[0]]);
  });

  it('is counted once in the last line', () => {
    expect(totalLine(results, 0)).toBe('6 passed, 2 failed, 3 skipped');
    expect(totalLine(results, 3)).toBe('6 passed, 5 failed, 0 skipped');
  });
});

it('has stages of different names, each with a limit under half an hour', () => {
  expect(new Set(STAGES.map(({ name }) => name)).size).toBe(STAGES.length);
  expect(STAGES.filter(({ limitMs }) => limitMs >= 30 * 60_000)).toEqual([]);
});
