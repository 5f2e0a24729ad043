import { OrreryError } from '@orrery/protocol/errors';
import type { z } from 'zod';
import type { CodeHost, MergeMethod, Pull, PullWanted, Standing } from '../codehost.ts';
import { CODEHOST_ANSWER_BYTES, CODEHOST_CALL_MS } from '../limits.ts';
import { pushBranch, readRefs, type GitPlace, type Packing } from '../push.ts';
import { parseRemote } from '../remote.ts';
import { hostRequest, type HostAnswer } from '../request.ts';
import { hostRefused, hostUnreachable } from '../words.ts';
import { toChecks, toMerging, toMethods } from './standing.ts';
import { problemOf, saidIn, saysExists, toPull } from './translate.ts';
import {
  checkRunsSchema,
  mergeabilitySchema,
  mergedSchema,
  pullSchema,
  pullsSchema,
  repositorySchema,
  statusesSchema,
  waysSchema,
} from './wire.ts';

/** A GitHub, or a GitHub Enterprise Server. */
export type GithubParts = {
  readonly name: string;
  /** Where its REST interface is. */
  readonly url: string;
  /** Hosts of remotes that are of it; null: the one that `url` belongs to. */
  readonly match: readonly string[] | null;
  /** Name of the secret with its token. */
  readonly secret: string;
  readonly readSecret: (name: string) => Promise<string | null>;
  readonly packing: Packing;
  readonly nowMs: () => number;
  readonly signal?: AbortSignal;
};

/** `https://api.github.com` → `github.com`; `https://ghe.corp/api/v3` → `ghe.corp`. */
export const webHostOf = (url: string): string => new URL(url).host.replace(/^api\./, '');

/** Makes the code host. Nothing is asked of it yet. */
export const createGithub = (parts: GithubParts): CodeHost => {
  const web = webHostOf(parts.url);
  const scheme = new URL(parts.url).protocol;
  const hosts = new Set((parts.match ?? [web]).map((host) => host.toLowerCase()));
  const bare = (host: string): string => host.replace(/:\d+$/, '');
  const token = (): Promise<string> => readToken(parts);
  const placeOf = async (repository: string): Promise<GitPlace> => ({
    url: `${scheme}//${web}/${repository}`,
    token: await token(),
    signal: parts.signal,
  });
  const call = createCall(parts, web, token);
  return {
    name: parts.name,
    kind: 'github',
    checkToken: async () => void (await token()),
    repositoryOf: (address) => {
      const remote = parseRemote(address);
      if (remote === null) return null;
      // The port of a remote by ssh is another one than that of the web.
      const named =
        hosts.has(remote.host) || (!/:\d+$/.test(remote.host) && [...hosts].some((host) => bare(host) === remote.host));
      return named ? remote.repository : null;
    },
    branchUrl: (repository, branch) =>
      `${scheme}//${web}/${repository}/tree/${branch.split('/').map(encodeURIComponent).join('/')}`,
    branches: async (repository) => {
      const { refs } = await readRefs(await placeOf(repository));
      const heads = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'));
      return new Map(heads.map(([ref, sha]) => [ref.slice('refs/heads/'.length), sha]));
    },
    push: async (repository, wanted) => pushBranch(parts.packing, await placeOf(repository), wanted),
    defaultBranch: async (repository) =>
      (await call({ path: `repos/${repository}`, what: `read ${repository}` }, repositorySchema)).default_branch,
    create: (repository, wanted) => createPull(call, repository, wanted),
    find: async (repository, branch) => {
      const owner = repository.split('/')[0] ?? '';
      const query = new URLSearchParams({
        head: `${owner}:${branch}`,
        state: 'all',
        sort: 'created',
        direction: 'desc',
        per_page: '30',
      });
      const path = `repos/${repository}/pulls?${query.toString()}`;
      const found = await call({ path, what: `read pull requests of ${repository}` }, pullsSchema);
      // A server that does not know the filter would answer everything.
      return found.filter(({ head }) => head.ref === branch && isOf(head.repo?.full_name, repository)).map(toPull);
    },
    standing: (repository, pull) => standingOf(call, repository, pull),
    merge: (repository, wanted) => mergePull(call, repository, wanted),
    view: async (repository, number) =>
      toPull(
        await call({ path: `repos/${repository}/pulls/${number}`, what: `read pull requests of ${repository}` }, pullSchema),
      ),
  };
};

const isOf = (fullName: string | undefined, repository: string): boolean =>
  fullName === undefined || fullName.toLowerCase() === repository.toLowerCase();

type Asked = { readonly path: string; readonly what: string; readonly body?: string; readonly method?: 'POST' | 'PUT' };
type Call = {
  <Schema extends z.ZodType>(asked: Asked, schema: Schema): Promise<z.output<Schema>>;
  <Schema extends z.ZodType, Other>(
    asked: Asked,
    schema: Schema,
    other: (answer: HostAnswer, said: string) => Other | undefined,
  ): Promise<z.output<Schema> | Other>;
};

/** Asks its interface. `other` may know what an answer that is no success means. */
const createCall =
  (parts: GithubParts, web: string, readTokenNow: () => Promise<string>): Call =>
  async <Schema extends z.ZodType, Other>(
    { path, what, body, method = 'POST' }: Asked,
    schema: Schema,
    other?: (answer: HostAnswer, said: string) => Other | undefined,
  ): Promise<z.output<Schema> | Other> => {
    const token = await readTokenNow();
    const url = new URL(`${parts.url.replace(/\/+$/, '')}/${path}`);
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'orrery',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const bounds = { timeoutMs: CODEHOST_CALL_MS, maxBytes: CODEHOST_ANSWER_BYTES, signal: parts.signal };
    const asked = { url, method: body === undefined ? ('GET' as const) : method, headers, ...bounds };
    let answer: HostAnswer;
    try {
      answer = await hostRequest(body === undefined ? asked : { ...asked, body });
    } catch (thrown) {
      throw hostUnreachable(url.host, thrown, token);
    }
    if (answer.status >= 200 && answer.status < 300) {
      const read = schema.safeParse(jsonOrNull(answer.body));
      if (read.success) return read.data;
      throw hostUnreachable(url.host, new Error('its answer is not one of GitHub’s interface'), token);
    }
    const known = other?.(answer, saidIn(answer.body, token));
    if (known !== undefined) return known;
    throw problemOf(answer, { host: web, what, token, secret: parts.secret, nowMs: parts.nowMs() });
  };

const createPull = async (call: Call, repository: string, { branch, ...wanted }: PullWanted) => {
  const body = JSON.stringify({ ...wanted, head: branch });
  const asked = { path: `repos/${repository}/pulls`, what: `open a pull request in ${repository}`, body };
  const made = await call(asked, pullSchema, ({ status }, said) => (status === 422 && saysExists(said) ? 'exists' : undefined));
  return made === 'exists' ? null : toPull(made);
};

/** What a token without the right to read checks is told; the rest is known all the same. */
const unread = ({ status }: HostAnswer): null | undefined => (status === 403 || status === 404 ? null : undefined);

const standingOf = async (
  call: Call,
  repository: string,
  { number, headSha }: Pick<Pull, 'number' | 'headSha'>,
): Promise<Standing> => {
  const what = `read pull requests of ${repository}`;
  const checks = `read checks of ${repository}`;
  const commit = `repos/${repository}/commits/${headSha}`;
  const [pull, ways, runs, statuses] = await Promise.all([
    call({ path: `repos/${repository}/pulls/${number}`, what }, mergeabilitySchema),
    call({ path: `repos/${repository}`, what }, waysSchema),
    call({ path: `${commit}/check-runs?per_page=100`, what: checks }, checkRunsSchema, unread),
    call({ path: `${commit}/status?per_page=100`, what: checks }, statusesSchema, unread),
  ]);
  return {
    ...(runs === null || statuses === null ? { checks: null, total: 0 } : toChecks(runs, statuses)),
    merging: toMerging(pull),
    methods: toMethods(ways),
  };
};

const mergePull = async (
  call: Call,
  repository: string,
  { number, headSha, method }: Pick<Pull, 'number' | 'headSha'> & { readonly method: MergeMethod },
): Promise<void> => {
  const what = `merge the pull request #${number} of ${repository}`;
  const body = JSON.stringify({ sha: headSha, merge_method: method });
  const path = `repos/${repository}/pulls/${number}/merge`;
  const made = await call({ path, what, body, method: 'PUT' }, mergedSchema, ({ status }, said) =>
    status === 405 || status === 409 ? said : undefined,
  );
  if (typeof made !== 'string') return;
  throw hostRefused(`${repository} does not merge #${number}${made === '' ? '' : `: ${made}`}.`, {
    rule: 'Its host merges what has no conflict, keeps its rules, and is still the commit that was seen.',
    fix: 'Look at it there, push what it needs, and merge again.',
  });
};

const jsonOrNull = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
};

const readToken = async ({ name, secret, readSecret }: GithubParts): Promise<string> => {
  const token = (await readSecret(secret))?.trim() ?? '';
  if (/^[\x21-\x7e]{1,1024}$/.test(token)) return token;
  throw new OrreryError(
    'config_invalid',
    `The code host ${name} has no token: the secret "${secret}" is ${token === '' ? 'not set' : 'no token'}.`,
    {
      rule: 'Branches are pushed and pull requests opened with a token of the operator’s.',
      fix: `orrery secret set ${secret}`,
    },
  );
};
