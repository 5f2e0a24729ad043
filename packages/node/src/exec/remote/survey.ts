// What has to be known of a place before a program is rendered for it, asked in one command: each costs as much as a program's start.
import { OrreryError } from '@orrery/protocol/errors';
import { readProbe } from '../../keeper/records.ts';
import type { GuaranteeReport } from '../../keeper/types.ts';
import { mustRun } from './command.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';

/** What a confined program would get in the place, and which of the paths that were asked for are there. */
export type Survey = { readonly guarantees: readonly GuaranteeReport[]; readonly present: ReadonlySet<string> };

/** Answers of the keeper program are JSON. */
export const parseAnswer = <T>(text: Buffer, read: (value: unknown) => T): T => {
  try {
    return read(JSON.parse(text.toString('utf8')));
  } catch (thrown) {
    throw new OrreryError('backend_unavailable', 'The keeper program in the place gave an answer that cannot be read.', {
      details: { said: text.subarray(0, 200).toString('utf8') },
      cause: thrown,
    });
  }
};

/** Says for each parameter whether it is there, in one line. */
export const LOOK_FOR = 'for path; do if [ -e "$path" ]; then printf "1"; else printf "0"; fi; done; echo';

/** The paths that a line of `LOOK_FOR` says are there. */
export const presentIn = (said: string, paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.filter((_, index) => said[index] === '1'));

/** The keeper's report and then the paths, which are the parameters of the script. */
export const SURVEY = `"$keeper" probe || exit; ${LOOK_FOR}`;

/** The two lines that `SURVEY` says. */
export const readSurvey = (report: string, found: string, paths: readonly string[]): Survey => ({
  guarantees: parseAnswer(Buffer.from(report), readProbe),
  present: presentIn(found, paths),
});

/** Asks a place that has its keeper program. */
export const survey = (line: Line, paths: readonly string[]): Promise<Survey> =>
  patiently(line, async () => {
    const argv = ['sh', '-c', `keeper=$1; shift; ${SURVEY}`, 'sh', line.layout.keeper, ...paths];
    const said = await mustRun(line.place, argv, { what: 'Asking what the place can guarantee' });
    const [report = '', found = ''] = said.toString('utf8').split('\n');
    return readSurvey(report, found, paths);
  });
