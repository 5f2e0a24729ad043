import type { Stage } from './test-stages.ts';

/** A test that did not run: its file (from the root) and its full title. */
export type SkippedTest = { file: string; title: string };

/** How a stage ended. Counts are tests for suites, one for a check. */
export type StageResult = {
  stage: Stage;
  passed: number;
  failed: number;
  skipped: SkippedTest[];
  /** Why the whole stage did not run. */
  reason?: string;
  durationMs: number;
};

/** The part of a vitest JSON report that is counted. */
export type SuiteReport = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
};

const NOT_RUN = new Set(['skipped', 'pending', 'todo', 'disabled']);

/**
 * Counts a suite. A file that could not be loaded, a run that ended badly without a failed test and a missing report
 * each count as one failure, so that nothing passes by not running.
 */
export function countSuite(
  report: SuiteReport | undefined,
  { exitCode, root }: { exitCode: number; root: string },
): Pick<StageResult, 'passed' | 'failed' | 'skipped'> {
  if (report === undefined) return { passed: 0, failed: 1, skipped: [] };
  const skipped = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => NOT_RUN.has(status))
      .map(({ fullName }) => ({ file: name.replace(`${root}/`, ''), title: fullName.trim() })),
  );
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + broken;
  const nothing = report.numPassedTests + failed + skipped.length === 0;
  return { passed: report.numPassedTests, failed: failed === 0 && (exitCode !== 0 || nothing) ? 1 : failed, skipped };
}

/** Counts a native run: its own line `N passed, N failed, N skipped` when it prints one, else one test. */
export function countNative(output: string, exitCode: number): Pick<StageResult, 'passed' | 'failed' | 'skipped'> {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)];
  const last = lines.at(-1);
  if (last === undefined) return exitCode === 0 ? { passed: 1, failed: 0, skipped: [] } : { passed: 0, failed: 1, skipped: [] };
  const failed = Number(last[2]);
  const skipped = Array.from({ length: Number(last[3]) }, (_, index) => ({
    file: 'native/test.sh',
    title: `skipped test ${index + 1}`,
  }));
  return { passed: Number(last[1]), failed: failed === 0 && exitCode !== 0 ? 1 : failed, skipped };
}

/** What may not be skipped here: with everything required, each skipped test or stage that the table does not excuse. */
export function requiredSkips(results: readonly StageResult[], maySkip: readonly { pattern: RegExp }[]): SkippedTest[] {
  const skipped = results.flatMap((result) =>
    result.reason === undefined ? result.skipped : [{ file: result.stage.name, title: result.reason }],
  );
  return skipped.filter(({ file, title }) => !maySkip.some(({ pattern }) => pattern.test(`${file} ${title}`)));
}

/** The last line of `npm test`. Skips that are failures are counted as such, not twice. */
export function totalLine(results: readonly StageResult[], failedSkips: number): string {
  const passed = sum(results, (result) => result.passed);
  const failed = sum(results, (result) => result.failed) + failedSkips;
  const skipped = sum(results, (result) => result.skipped.length + (result.reason === undefined ? 0 : 1)) - failedSkips;
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function sum(results: readonly StageResult[], of: (result: StageResult) => number): number {
  let total = 0;
  for (const result of results) total += of(result);
  return total;
}

/** The loud part: every stage and test that did not run, by file, and why. Empty when everything ran. */
export function skippedText(results: readonly StageResult[], lacking: readonly string[]): string {
  const stages = results
    .filter(({ reason }) => reason !== undefined)
    .map(({ stage, reason }) => `  ${stage.name}: the whole stage (${reason})`);
  const byFile = new Map<string, string[]>();
  for (const { file, title } of results.flatMap((result) => result.skipped))
    byFile.set(file, [...(byFile.get(file) ?? []), title]);
  const files = [...byFile].map(
    ([file, titles]) =>
      `  ${file}: ${titles.length === 1 ? '1 test' : `${titles.length} tests`} (${titles[0]}${titles.length > 1 ? ', …' : ''})`,
  );
  if (stages.length + files.length === 0) return '';
  const why = lacking.length === 0 ? [] : ['this machine lacks:', ...lacking.map((reason) => `  ${reason}`)];
  return ['NOT RUN', ...stages, ...files, ...why, ''].join('\n');
}
