import { OrreryError } from '@orrery/protocol/errors';
import { hideCredentials } from '../git/redact.ts';
import { inOneLine } from '../kernel/one-line.ts';
import { CODEHOST_WORDS_CHARS } from './limits.ts';

/** A text of a host as one line of at most so many characters, with nothing in it that controls or is not seen. */
export const oneLine = (text: string, chars: number): string => {
  const line = inOneLine(text);
  return line.length > chars ? `${line.slice(0, chars - 1).toWellFormed()}…` : line;
};

/** What a host said, as one line that is shown: no token, no control characters, no addresses with credentials, bounded. */
export const saidByHost = (text: string, token: string): string => {
  const without = token === '' ? text : text.replaceAll(token, '(hidden)');
  const coded = Buffer.from(`x-access-token:${token}`).toString('base64');
  return oneLine(hideCredentials(without.replaceAll(coded, '(hidden)')), CODEHOST_WORDS_CHARS);
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
