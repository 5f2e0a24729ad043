// Gets the next access token of a login. Whether a login is over is told by its issuer alone; that it is away tells nothing.

import { OrreryError } from '@orrery/protocol/errors';
import type { HarnessLogin, KeptLogin, NewLogin, RefreshCall } from '../harness/login.ts';
import { REFRESH_ANSWER_BYTES, REFRESH_MS } from './limits.ts';

/** What came of it: the next one, or the word of its issuer that there is none. */
export type Refreshed = { readonly next: NewLogin } | { readonly over: string };

/** Asks the issuer. @throws OrreryError login_unreachable, login_failed (an answer that cannot be read) */
export const refreshLogin = async (
  { refresh }: Pick<HarnessLogin, 'refresh'>,
  { kept, issuer, send = fetch }: { readonly kept: KeptLogin; readonly issuer: string; readonly send?: typeof fetch },
): Promise<Refreshed> => {
  if (refresh === undefined || kept.refreshToken === null) return { over: 'its time is over' };
  const { status, text } = await post(refresh.call(kept, issuer), send);
  if (status === 200) return { next: refresh.read(json(text), kept) };
  // 400 and 401 are how an issuer says that it does not know the token any more; all else may pass.
  if (status === 400 || status === 401) return { over: `${hostOf(issuer)} does not take it any more` };
  throw unreachable(issuer, `it answered ${status}`);
};

const post = async (
  { url, body }: RefreshCall,
  send: typeof fetch,
): Promise<{ readonly status: number; readonly text: string }> => {
  try {
    const answer = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(REFRESH_MS),
    });
    return { status: answer.status, text: await bounded(answer) };
  } catch {
    throw unreachable(url, 'no answer came');
  }
};

const bounded = async (answer: Response): Promise<string> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    parts.push(piece);
    bytes += piece.length;
    if (bytes > REFRESH_ANSWER_BYTES) throw new RangeError('too long');
  }
  return Buffer.concat(parts).toString('utf8');
};

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const hostOf = (address: string): string => new URL(address).host;

const unreachable = (address: string, why: string): OrreryError =>
  new OrreryError('login_unreachable', `${hostOf(address)} gave no new access token: ${why}.`, {
    rule: 'An access token lasts for hours; its issuer gives the next one.',
    fix: 'Try again when it can be reached.',
  });
