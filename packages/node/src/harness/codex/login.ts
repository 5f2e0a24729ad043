// A ChatGPT subscription: the program's own login by a code, whose file has an access token for an hour or some days and
// what gets the next one. Its calls go to an address of their own.

import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import type { HarnessLogin, KeptLogin, NewLogin } from '../login.ts';

/** The name under which the program is known to who lets it in; it stands in its own requests. */
const CLIENT_ID = 'app_EMoamEEZ73f0CkXaXp7hrann';

const file = z.looseObject({
  tokens: z.looseObject({
    id_token: z.string().nullish(),
    access_token: z.string().min(1),
    refresh_token: z.string().min(1),
    account_id: z.string().nullish(),
  }),
});
const refreshed = z.looseObject({
  id_token: z.string().nullish(),
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
});
const claims = z.looseObject({
  exp: z.number().nullish().catch(null),
  email: z.string().nullish().catch(null),
  'https://api.openai.com/auth': z
    .looseObject({ chatgpt_account_id: z.string().nullish().catch(null), chatgpt_plan_type: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
});
type Claims = z.output<typeof claims>;

/** What a token says of itself; nobody relies on it, so its signature is not looked at. */
const claimsOf = (token: string | null | undefined): Claims => {
  try {
    return claims.parse(JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
};

const failed = (): OrreryError =>
  new OrreryError('login_failed', 'Codex was let in and left no login that can be used.', {
    rule: 'It leaves an access token and a refresh token.',
    fix: 'orrery harness login codex',
  });

type Tokens = { readonly id?: string | null; readonly access: string; readonly refresh: string; readonly account: string | null };

const loginOf = ({ id, access, refresh, account }: Tokens, before: KeptLogin | null = null): NewLogin => {
  const [own, person] = [claimsOf(access), claimsOf(id)];
  const auth = person['https://api.openai.com/auth'] ?? own['https://api.openai.com/auth'];
  const plan = auth?.chatgpt_plan_type;
  const email = person.email ?? own.email;
  const who = email == null ? null : `${email}${plan == null ? '' : ` (${plan})`}`.slice(0, 200);
  return {
    accessToken: access,
    refreshToken: refresh,
    expiresAtMs: own.exp == null ? null : Math.round(own.exp * 1000),
    accountId: account ?? auth?.chatgpt_account_id ?? before?.accountId ?? null,
    who: who ?? before?.who ?? null,
  };
};

const json = (content: string): unknown => {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
};

/** Colours of what it prints. */
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[[0-9;]*m/g;

export const codexLogin: HarnessLogin = {
  account: 'a ChatGPT subscription',
  provider: 'openai',
  baseUrl: 'https://chatgpt.com/backend-api/codex',
  issuer: 'https://auth.openai.com',
  device: {
    args: (issuer) => [
      ...['-c', 'cli_auth_credentials_store="file"', 'login', '--device-auth'],
      ...(issuer === null ? [] : ['--experimental_issuer', issuer]),
    ],
    homeVariable: 'CODEX_HOME',
    prompt: (printed) => {
      const plain = printed.replaceAll(COLOUR, '');
      const url = /^\s*(https?:\/\/\S+)\s*$/m.exec(plain)?.[1];
      const code = /^\s*([A-Z0-9]{3,8}-[A-Z0-9]{3,8})\s*$/m.exec(plain)?.[1];
      return url === undefined || code === undefined ? null : { url, code };
    },
    file: 'auth.json',
    read: (content) => {
      const { data } = file.safeParse(json(content));
      if (data === undefined) throw failed();
      const { id_token: id = null, access_token: access, refresh_token: refresh, account_id: account = null } = data.tokens;
      return loginOf({ id, access, refresh, account });
    },
    waitsMs: 15 * 60_000,
  },
  refresh: {
    call: ({ refreshToken }, issuer) => ({
      url: `${issuer.replace(/\/+$/, '')}/oauth/token`,
      body: { client_id: CLIENT_ID, grant_type: 'refresh_token', refresh_token: refreshToken ?? '' },
    }),
    read: (answer, before) => {
      const { data } = refreshed.safeParse(answer);
      if (data === undefined) throw failed();
      const { id_token: id = null, access_token: access, refresh_token: refresh } = data;
      return loginOf({ id, access, refresh: refresh ?? before.refreshToken ?? '', account: before.accountId }, before);
    },
  },
  // At the gateway its paths are those of the API; here they lie below the address itself, and only its own wire is there.
  path: (path) => (/^\/v1\/(responses|models)(\/|$)/.test(path) ? path.slice('/v1'.length) : null),
  headers: ({ accessToken, accountId }) => ({
    authorization: `Bearer ${accessToken}`,
    ...(accountId === null ? {} : { 'chatgpt-account-id': accountId }),
  }),
};
