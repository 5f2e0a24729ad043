import { OrreryError } from '@orrery/protocol/errors';
import type { ErrorCode } from '@orrery/protocol/errors';

type Meaning = { readonly code: ErrorCode; readonly message: (what: string) => string; readonly fix: string };

const MEANINGS: Record<string, Meaning> = {
  guarantee: {
    code: 'guarantee_missing',
    message: (what) => `This machine cannot guarantee "${what}", so nothing was started.`,
    fix: 'See what it can give: orrery selftest sandbox',
  },
  path: {
    code: 'not_found',
    message: (what) => `A path the program needs is not there: ${what}.`,
    fix: 'Make it, or take it out of the grants.',
  },
  front: {
    code: 'busy',
    message: (what) => `The port of the broker's front could not be had (${what}).`,
    fix: 'Free the port, or run the task again.',
  },
  wrapper: {
    code: 'backend_unavailable',
    message: (what) => `The program that builds the walls did not come to its end: ${what}.`,
    fix: 'See what is missing: orrery backend check',
  },
  setup: {
    code: 'backend_unavailable',
    message: (what) => `The walls around the program could not be built (${what}).`,
    fix: 'See what is missing: orrery selftest sandbox',
  },
};

/** The error of a keeper that said `refused <reason>`: nothing was started. */
export const refusalError = (reason: string): OrreryError => {
  const colon = reason.indexOf(':');
  const meaning = MEANINGS[reason.slice(0, colon)];
  const rule = 'A program is started as described or not at all.';
  if (meaning === undefined)
    return new OrreryError('internal', `The keeper refused its description: ${reason}.`, { rule, details: { reason } });
  return new OrreryError(meaning.code, meaning.message(reason.slice(colon + 1)), { rule, fix: meaning.fix, details: { reason } });
};
