import { OrreryError } from '@orrery/protocol/errors';
import { hideCredentials } from '../git/redact.ts';
import { CODEHOST_WORDS_CHARS } from './limits.ts';

/** What a host said, as one line that is shown: no token, no control characters, no addresses with credentials, bounded. */
export const saidByHost = (text: string, token: string): string => {
  const without = token === '' ? text : text.replaceAll(token, '(hidden)');
  const coded = Buffer.from(`x-access-token:${token}`).toString('base64');
  const line = hideCredentials(without.replaceAll(coded, '(hidden)'))
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length > CODEHOST_WORDS_CHARS ? `${line.slice(0, CODEHOST_WORDS_CHARS)}…` : line;
};

/** The host was asked, and said no; nothing was done. */
export const hostRefused = (
  message: string,
  { rule, fix, details }: { rule?: string; fix?: string; details?: Record<string, unknown> } = {},
): OrreryError => new OrreryError('codehost_refused', message, { rule, fix, details });

/** Nobody knows what became of a request. */
export const hostUnreachable = (host: string, thrown: unknown, token: string): OrreryError =>
  new OrreryError(
    'codehost_unreachable',
    `${host} cannot be reached (${saidByHost(thrown instanceof Error ? thrown.message : String(thrown), token)}).`,
    {
      rule: 'What was begun is on record: the next try looks first at what the host has, and opens nothing twice.',
      fix: 'Run the same command again.',
    },
  );
