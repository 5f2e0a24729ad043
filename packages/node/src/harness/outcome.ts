// The outcome of a turn: what the program reported, sharpened by what the gateway knows; how its process ended comes last.

import { clip } from './clip.ts';
import type { ProgramEnd, TurnFailure, TurnOutcome } from './harness.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import type { Reported } from './reported.ts';

type Parts = {
  readonly outcome: TurnOutcome['outcome'];
  readonly failure?: TurnFailure | null;
  readonly message?: string | null;
  readonly resetsAt?: string | null;
};

const ended = ({ outcome, failure = null, message = null, resetsAt = null }: Parts): TurnOutcome => ({
  kind: 'turn.ended',
  outcome,
  failure,
  message: message === null ? null : clip(message, MAX_MESSAGE_BYTES),
  resetsAt,
});

/** Exit codes that stand for a signal: 128 + SIGHUP, SIGINT, SIGKILL, SIGTERM. */
const SIGNAL_CODES = new Set([129, 130, 137, 143]);

/** The outcome by structure first, exit code last. `program` is its name for people. */
export const settleOutcome = (word: Reported, end: ProgramEnd, program: string): TurnOutcome => {
  // Also one that came to an end by itself did so without what it needed.
  if (end.stoppedFor === 'unattended') return unattended(program);
  if (word?.kind === 'success' && !(word.doubtful === true && end.gateway != null)) return ended({ outcome: 'success' });
  const stopped = stoppedOutcome(end, program);
  if (stopped !== null) return stopped;
  if (end.gateway?.failure === 'budget') return ended({ outcome: 'budget', message: end.gateway.message });
  if (word?.kind === 'failure') return failed(word, end);
  if (word?.kind === 'success') return failed(asGatewayKnows(end), end);
  if (word?.kind === 'stopped' || wasSignalled(end)) {
    return ended({ outcome: 'interrupted', message: `${program} was stopped before its turn was over (${endText(end)}).` });
  }
  const said = lastLine(end.stderrTail);
  const message = `${program} ended without a result (${endText(end)})${said === '' ? '.' : `: ${said}`}`;
  return failed({ kind: 'failure', failure: 'program', message, resetsAt: null }, end);
};

const unattended = (program: string): TurnOutcome =>
  ended({
    outcome: 'error',
    failure: 'unattended',
    message: `${program} needed a permission and nobody was there to give it (unattended: fail).`,
  });

const stoppedOutcome = (end: ProgramEnd, program: string): TurnOutcome | null => {
  switch (end.stoppedFor ?? null) {
    case 'cancel':
      return ended({ outcome: 'cancelled' });
    case 'timeout':
      return ended({ outcome: 'error', failure: 'timeout', message: `${program} was stopped because its time was up.` });
    case 'node':
      return ended({ outcome: 'interrupted', message: `${program} was stopped by the node before its turn was over.` });
    case 'unattended':
      return unattended(program);
    case null:
      return null;
  }
};

const failed = (word: Extract<Reported, { kind: 'failure' }>, { gateway = null }: ProgramEnd): TurnOutcome => {
  const failure = gateway === null || gateway.failure === 'budget' ? word.failure : gateway.failure;
  const resetsAt = gateway?.resetsAt ?? word.resetsAt;
  return ended({ outcome: failure === 'usage_limit' ? 'limit' : 'error', failure, message: word.message, resetsAt });
};

/** The failure that the program took for a success. */
const asGatewayKnows = ({ gateway }: ProgramEnd): Extract<Reported, { kind: 'failure' }> => ({
  kind: 'failure',
  failure: 'program',
  message: gateway?.message ?? '',
  resetsAt: null,
});

const wasSignalled = ({ exitCode, signal }: ProgramEnd): boolean =>
  signal !== null || (exitCode !== null && SIGNAL_CODES.has(exitCode));

const endText = ({ exitCode, signal }: ProgramEnd): string =>
  signal === null ? `exit code ${exitCode ?? 'unknown'}` : `signal ${signal}`;

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? '';
