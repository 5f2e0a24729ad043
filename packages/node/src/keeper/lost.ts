import { OrreryError } from '@orrery/protocol/errors';

/** The error of everything that was asked of a keeper that is gone: its tree is gone with it. */
export const keeperLost = (what: string, cause?: unknown): OrreryError =>
  new OrreryError('keeper_lost', `The process that held the program is gone: ${what}.`, {
    rule: 'A program ends with its keeper; what it wrote up to then is in its spool.',
    fix: 'Run it again; the exit record and the spool say how far it came.',
    cause,
  });
