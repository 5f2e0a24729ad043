import type { SuiteReport } from './test-report.ts';

/** With more failed files than this a suite is broken, not unlucky: nothing is run again. */
export const SECOND_RUN_FILES = 4;

/** The files of a report that are worth a second run, alone: none when all passed, or when too many failed. */
export function filesToRunAgain(report: SuiteReport | undefined): string[] {
  const failed = (report?.testResults ?? []).filter(({ status }) => status === 'failed').map(({ name }) => name);
  return failed.length > SECOND_RUN_FILES ? [] : failed;
}

/** The first report with the files of the second in place of theirs. A file that the second run does not name stays failed. */
export function mergeReports(first: SuiteReport, second: SuiteReport): SuiteReport {
  const again = new Map(second.testResults.map((one) => [one.name, one]));
  const testResults = first.testResults.map((one) => again.get(one.name) ?? one);
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (wanted: string): number => all.filter(({ status }) => status === wanted).length;
  return { numPassedTests: count('passed'), numFailedTests: count('failed'), testResults };
}

/** What failed first and passed when its file ran again, alone: `file: title` for each, to be printed loudly. */
export function unsteady(first: SuiteReport, merged: SuiteReport, root: string): string[] {
  const now = new Map(merged.testResults.map((one) => [one.name, one]));
  return first.testResults
    .filter(({ name, status }) => status === 'failed' && now.get(name)?.status === 'passed')
    .flatMap(({ name, assertionResults }) => {
      const titles = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim());
      return (titles.length === 0 ? ['the file could not be loaded'] : titles).map(
        (title) => `${name.replace(`${root}/`, '')}: ${title}`,
      );
    });
}
