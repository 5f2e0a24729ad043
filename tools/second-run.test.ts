import { describe, expect, it } from 'vitest';
import { SECOND_RUN_FILES, filesToRunAgain, mergeReports, unsteady } from './second-run.ts';
import type { SuiteReport } from './test-report.ts';

const file = (name: string, ...statuses: string[]): SuiteReport['testResults'][number] => ({
  name,
  status: statuses.includes('failed') || statuses.length === 0 ? 'failed' : 'passed',
  assertionResults: statuses.map((status, index) => ({ status, fullName: ` case ${index} ` })),
});

const report = (...files: SuiteReport['testResults']): SuiteReport =>
  mergeReports(
    { numPassedTests: 0, numFailedTests: 0, testResults: files },
    { numPassedTests: 0, numFailedTests: 0, testResults: [] },
  );

describe('files that failed run once more, alone', () => {
  it('names the failed ones, and none of a suite that passed or was never reported', () => {
    expect(filesToRunAgain(report(file('/r/a.ts', 'passed'), file('/r/b.ts', 'passed', 'failed'), file('/r/c.ts')))).toEqual([
      '/r/b.ts',
      '/r/c.ts',
    ]);
    expect(filesToRunAgain(report(file('/r/a.ts', 'passed')))).toEqual([]);
    expect(filesToRunAgain(undefined)).toEqual([]);
  });

  it('runs nothing again when too many failed', () => {
    const many = Array.from({ length: SECOND_RUN_FILES + 1 }, (_, index) => file(`/r/${index}.ts`, 'failed'));
    expect(filesToRunAgain(report(...many))).toEqual([]);
    expect(filesToRunAgain(report(...many.slice(1)))).toHaveLength(SECOND_RUN_FILES);
  });

  it('counts a file by its second run', () => {
    const first = report(file('/r/a.ts', 'passed'), file('/r/b.ts', 'passed', 'failed'));
    expect(mergeReports(first, report(file('/r/b.ts', 'passed', 'passed')))).toEqual(
      report(file('/r/a.ts', 'passed'), file('/r/b.ts', 'passed', 'passed')),
    );
  });

  it('leaves what fails twice failed, and what the second run lost', () => {
    const first = report(file('/r/a.ts', 'failed'), file('/r/b.ts', 'failed'));
    const merged = mergeReports(first, report(file('/r/a.ts', 'failed')));
    expect(merged).toEqual({ ...first, numFailedTests: 2 });
    expect(unsteady(first, merged, '/r')).toEqual([]);
  });

  it('names what passed only then', () => {
    const first = report(file('/r/a.ts', 'passed', 'failed'), file('/r/b.ts'), file('/r/c.ts', 'passed'));
    const merged = mergeReports(first, report(file('/r/a.ts', 'passed', 'passed'), file('/r/b.ts', 'passed')));
    expect(unsteady(first, merged, '/r')).toEqual(['a.ts: case 1', 'b.ts: the file could not be loaded']);
  });
});
