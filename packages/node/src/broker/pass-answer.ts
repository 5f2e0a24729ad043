// The way of an answer from the provider to the program, and what it came to.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GatewayFailure } from '../harness/harness.ts';
import { toInstant } from '../kernel/clock.ts';
import type { AnswerFacts } from './answer-reader.ts';
import { forwardedAnswerHeaders } from './headers.ts';
import { isUpstreamFault } from './upstream.ts';

/** How an answer went through: to its end, cut or fallen silent on the provider's side, or not wanted any more. */
export type Passed = 'whole' | 'cut' | 'quiet' | 'gone';

/** Passes an answer byte for byte, no faster than it is taken. Never rejects. */
export const passAnswer = async (
  answer: IncomingMessage,
  response: ServerResponse,
  copy: (bytes: Buffer) => void,
): Promise<Passed> => {
  // Whoever ends first ends the other: only the first one counts.
  let ended: Exclude<Passed, 'whole'> | null = null;
  answer.once('error', (fault) => (ended ??= isUpstreamFault(fault) && fault.kind === 'quiet' ? 'quiet' : 'cut'));
  response.once('close', () => (ended ??= 'gone'));
  response.writeHead(answer.statusCode ?? 502, forwardedAnswerHeaders(answer.headers));
  response.flushHeaders();
  const tap = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      copy(bytes);
      done(null, bytes);
    },
  });
  return pipeline(answer, tap, response).then(
    () => 'whole',
    () => ended ?? 'cut',
  );
};

/** What is known at the end of an answer. */
export type AnswerEnd = {
  readonly facts: AnswerFacts;
  readonly status: number;
  readonly passed: Passed;
  readonly exhausted: string | null | undefined;
  /** How long the answer's headers say to wait; null: nothing. */
  readonly retryMs: number | null;
  readonly nowMs: number;
};

/** null: it went well, or the provider refused for a reason only the program can name. */
export const gatewayFailure = ({ facts, status, passed, exhausted, retryMs, nowMs }: AnswerEnd): GatewayFailure | null => {
  const message = facts.failure?.message.slice(0, 500) ?? '';
  if (status === 429 && exhausted !== undefined) return { failure: 'usage_limit', message, resetsAt: exhausted };
  if (passed === 'quiet')
    return { failure: 'timeout', message: 'The provider fell silent in the middle of its answer.', resetsAt: null };
  const cut = { failure: 'network', message: 'The answer of the provider was cut.', resetsAt: null } as const;
  if (facts.failure === null) return passed === 'whole' && facts.whole ? null : cut;
  const { failure, waitMs = null } = facts.failure;
  if (failure === 'protocol' && passed === 'cut') return cut;
  if (failure === null) return null;
  const fromNowMs = failure === 'usage_limit' ? (waitMs ?? retryMs) : null;
  const resetsAt = facts.failure.resetsAt ?? (fromNowMs === null ? null : toInstant(nowMs + fromNowMs));
  return { failure, message, resetsAt };
};
