// What a browser is to the node: a caller whose credential is a cookie that no script can read. The cookie counts only for
// what its own pages ask: another site cannot make a browser act here.

import type { OperationName } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';

/** What of a request says who asks. */
export type Credentials = {
  readonly method: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: where the page that asks is from. */
  readonly site: string | undefined;
};

/** Nodes on one machine differ by their port, which cookies do not see: each has a name of its own. */
export const cookieName = (installation: string): string => `orrery_${installation.replaceAll(/[^a-z0-9]/gi, '').slice(-16)}`;

/** The header of a caller: its own, else that of its cookie. @throws OrreryError forbidden for a cookie that came along with another site's request */
export const authorizationOf = (given: Credentials, name: string): string | undefined => {
  if (given.authorization !== undefined) return given.authorization;
  const token = cookieOf(given.cookie, name);
  if (token === null) return undefined;
  const reads = given.method === 'GET' || given.method === 'HEAD';
  // The origin was compared with the host already: a write has one, a read that carries none tells where it is from.
  const ours = given.origin !== undefined || (reads && (given.site ?? 'same-origin') === 'same-origin');
  if (!ours) throw foreign();
  return `Bearer ${token}`;
};

const cookieOf = (header: string | undefined, name: string): string | null => {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
};

const foreign = (): OrreryError =>
  new OrreryError('forbidden', 'The cookie of this browser came without a word about the page that asks.', {
    rule: 'A browser acts by the pages of this node alone; programs send a token in a header.',
  });

/** Thirty days, as the token behind it. */
const MAX_AGE_S = 30 * 24 * 3600;

/** The cookie that an answer sets, and the answer without the token in it. */
export const forBrowser = (
  operation: OperationName,
  value: unknown,
  { name, secure }: { readonly name: string; readonly secure: boolean },
): { readonly value: unknown; readonly headers: Readonly<Record<string, string>> } => {
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  if (operation === 'loginLeave') return { value, headers: { 'set-cookie': `${name}=; ${attributes}; Max-Age=0` } };
  if (operation !== 'loginEnter') return { value, headers: {} };
  const { token, ...rest } = value as { readonly token: string };
  return { value: rest, headers: { 'set-cookie': `${name}=${token}; ${attributes}; Max-Age=${MAX_AGE_S}` } };
};
