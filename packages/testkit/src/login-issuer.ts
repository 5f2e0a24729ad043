import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Who lets in to an account, for tests: the part of ChatGPT's issuer that Codex's login by a code and the renewal of access
 * tokens speak. A refresh token is good once.
 */
export type TestLoginIssuer = {
  readonly url: string;
  /** What was asked for, in order: `METHOD path`. */
  readonly asked: string[];
  /** The code that a person types. */
  readonly code: string;
  /** The person types it; false: those that begin from now on wait again. */
  approve(typed?: boolean): void;
  /** Access tokens given so far, oldest first. */
  readonly given: string[];
  /** How long the access tokens are good that are given from now on, seconds. */
  lasts(seconds: number): void;
  /** From now on: it takes no refresh token, it answers 503, or it is well. */
  behave(how: 'well' | 'revoked' | 'unwell'): void;
  stop(): Promise<void>;
};

const EMAIL = 'person@example.org';

/** A token as it is made: its claims can be read, its signature is no secret of anybody's. */
const tokenOf = (claims: object): string =>
  [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.signature';

const bodyOf = async (request: IncomingMessage): Promise<URLSearchParams> => {
  let text = '';
  for await (const piece of request) text += String(piece);
  if (!String(request.headers['content-type']).startsWith('application/json')) return new URLSearchParams(text);
  return new URLSearchParams(JSON.parse(text === '' ? '{}' : text) as Record<string, string>);
};

/** Starts it on this machine. */
export const startLoginIssuer = async (): Promise<TestLoginIssuer> => {
  const asked: string[] = [];
  const given: string[] = [];
  const code = 'ABCD-EFGH1';
  const state = { approved: false, how: 'well', seconds: 3_600, refresh: 0 };
  const tokens = (): object => {
    const auth = { chatgpt_account_id: 'account-1', chatgpt_plan_type: 'plus' };
    const exp = Math.floor(Date.now() / 1000) + state.seconds;
    const claims = { email: EMAIL, exp, jti: String(given.length), 'https://api.openai.com/auth': auth };
    given.push(tokenOf(claims));
    state.refresh += 1;
    return {
      id_token: tokenOf(claims),
      access_token: given.at(-1),
      refresh_token: `refresh-${state.refresh}`,
      expires_in: state.seconds,
    };
  };
  const answerTo = (path: string, body: URLSearchParams): readonly [number, object] => {
    if (path === '/api/accounts/deviceauth/usercode')
      return [200, { device_auth_id: 'device-1', user_code: code, interval: '1' }];
    if (path === '/api/accounts/deviceauth/token')
      return state.approved
        ? [200, { authorization_code: 'once', code_challenge: 'challenge', code_verifier: 'verifier' }]
        : [403, { error: 'authorization_pending' }];
    if (path !== '/oauth/token') return [404, { error: 'not_found' }];
    if (body.get('grant_type') === 'authorization_code') return [200, tokens()];
    if (state.how === 'unwell') return [503, { error: 'temporarily_unavailable' }];
    const isNewest = body.get('refresh_token') === `refresh-${state.refresh}`;
    return isNewest && state.how === 'well' ? [200, tokens()] : [401, { error: { code: 'refresh_token_reused' } }];
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const path = request.url ?? '';
      asked.push(`${request.method} ${path}`);
      const [status, answer] = answerTo(path, body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    code,
    given,
    approve: (typed = true) => void (state.approved = typed),
    lasts: (seconds) => void (state.seconds = seconds),
    behave: (how) => void (state.how = how),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
