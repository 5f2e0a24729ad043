import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { commitOf, gitOf, type Answer, type Held, type TestCheck, type TestPull } from './code-host-held.ts';
import { checksOf, mergeability, mergeOne } from './code-host-merging.ts';
import { gitBackend } from './git-backend.ts';

/** How a code host behaves that is not well, or not honest. `loses-…` and `holds-…`: it does what is asked, and its answer is lost, or never comes. */
export type CodeHostFault =
  | 'none'
  | 'loses-push'
  | 'loses-create'
  | 'loses-merge'
  | 'holds-push'
  | 'holds-create'
  | 'rate-limited'
  | 'sends-on'
  | 'unwell'
  | 'too-much'
  | 'no-json'
  | 'echoes';

/**
 * A code host for tests: the part of GitHub's REST interface (version 2022-11-28) that deals with pull requests, with its own
 * answers and status codes, and Git over HTTP by Git's own server. Repositories are bare ones below `root`.
 */
export type TestCodeHost = {
  readonly origin: string;
  /** Where its interface is: what `url` of a code host is set to. */
  readonly api: string;
  /** What was asked for, in order: `METHOD path`. */
  readonly asked: string[];
  /** Makes a repository whose branch `main` is that of another one on the disk. */
  add(repository: string, from: string): string;
  /** Asks the bare repository itself. */
  git(repository: string, ...args: string[]): string;
  pulls(repository: string): readonly TestPull[];
  close(repository: string, number: number, how: 'merged' | 'closed'): void;
  /** A check ran, or runs (`conclusion` null), on what a branch names now; a service's status has another form. */
  check(repository: string, branch: string, check: TestCheck): void;
  /** From now on a rule keeps everything from being merged there, in these words; null: nothing does. */
  protect(repository: string, words: string | null): void;
  /** From now on. `times`: after so many of it, it is well again. */
  behave(fault: CodeHostFault, times?: number): void;
  stop(): Promise<void>;
};

const shown = ({ root, origin }: Held, repository: string, pull: TestPull) => {
  const repo = { full_name: repository };
  const sha = (branch: string): string => commitOf(root, repository, branch) ?? '0'.repeat(40);
  return {
    number: pull.number,
    html_url: `${origin()}/${repository}/pull/${pull.number}`,
    state: pull.state,
    draft: pull.draft,
    title: pull.title,
    body: pull.body,
    merged_at: pull.mergedAt,
    head: { ref: pull.head, sha: sha(pull.head), repo },
    base: { ref: pull.base, sha: sha(pull.base), repo },
  };
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const invalid = (...errors: readonly object[]): Answer => ({ status: 422, body: { message: 'Validation Failed', errors } });

const create = (held: Held, repository: string, text: string): Answer => {
  const asked = JSON.parse(text) as { title?: string; head: string; base: string; body?: string; draft?: boolean };
  const list = held.pulls.get(repository) ?? [];
  const field = (name: string): Answer => invalid({ resource: 'PullRequest', field: name, code: 'invalid' });
  const custom = (message: string): Answer => invalid({ resource: 'PullRequest', code: 'custom', message });
  if (commitOf(held.root, repository, asked.head) === null) return field('head');
  if (commitOf(held.root, repository, asked.base) === null) return field('base');
  if (list.some((one) => one.state === 'open' && one.head === asked.head && one.base === asked.base))
    return custom(`A pull request already exists for ${repository.split('/')[0]}:${asked.head}.`);
  if (gitOf(held.root, repository, 'rev-list', '--count', `${asked.base}..${asked.head}`) === '0')
    return custom(`No commits between ${asked.base} and ${asked.head}`);
  const pull: TestPull = {
    number: list.length + 1,
    head: asked.head,
    base: asked.base,
    title: asked.title ?? '',
    body: asked.body ?? '',
    draft: asked.draft ?? false,
    state: 'open',
    mergedAt: null,
  };
  held.pulls.set(repository, [...list, pull]);
  return { status: 201, body: shown(held, repository, pull) };
};

const answerApi = async (held: Held, request: IncomingMessage, path: string): Promise<Answer> => {
  const url = new URL(path, 'http://host');
  const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
  const list = held.pulls.get(repository);
  const missing: Answer = { status: 404, body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' } };
  if (list === undefined) return missing;
  if (rest === '') return { status: 200, body: { full_name: repository, default_branch: 'main', allow_rebase_merge: false } };
  if (rest === '/pulls' && request.method === 'POST') return create(held, repository, await readBody(request));
  const number = Number(/^\/pulls\/(\d+)(?:\/merge)?$/.exec(rest)?.[1] ?? Number.NaN);
  const one = list.find((pull) => pull.number === number);
  if (one !== undefined && rest.endsWith('/merge'))
    return mergeOne(held, { repository, pull: one, text: await readBody(request) });
  if (one !== undefined)
    return { status: 200, body: { ...shown(held, repository, one), ...mergeability(held, repository, one) } };
  const [, sha = '', kind] = /^\/commits\/([0-9a-f]{40})\/(check-runs|status)$/.exec(rest) ?? [];
  if (kind !== undefined) return checksOf(held, `${repository} ${sha}`, kind);
  if (rest !== '/pulls') return missing;
  const head = url.searchParams.get('head');
  const state = url.searchParams.get('state') ?? 'open';
  const found = list.filter(
    (pull) => (state === 'all' || pull.state === state) && (head === null || head === `${repository.split('/')[0]}:${pull.head}`),
  );
  return { status: 200, body: found.toReversed().map((pull) => shown(held, repository, pull)) };
};

const faulty = (fault: CodeHostFault, token: string): Answer | null => {
  if (fault === 'rate-limited') return { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' } };
  if (fault === 'sends-on') return { status: 301, body: { message: 'Moved Permanently' } };
  if (fault === 'unwell') return { status: 502, body: '<html>Unicorn</html>' };
  if (fault === 'no-json') return { status: 200, body: '<html>' };
  if (fault === 'echoes') return { status: 422, body: { message: `Validation Failed for Bearer ${token}\u202e` } };
  return fault === 'too-much' ? { status: 200, body: 'x'.repeat(16 * 1024 * 1024) } : null;
};

const passwordOf = ({ headers }: IncomingMessage): string | null => {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1];
  return basic === undefined
    ? null
    : Buffer.from(basic, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, '');
};

/** Starts one. `token` is the one that may read and write everything. */
export const startCodeHost = async ({
  root,
  token,
}: {
  readonly root: string;
  readonly token: string;
}): Promise<TestCodeHost> => {
  const asked: string[] = [];
  let [fault, times] = ['none' as CodeHostFault, 0];
  let origin = '';
  const held: Held = { root, pulls: new Map(), checks: new Map(), protectedBy: new Map(), origin: () => origin };
  const take = (...kinds: readonly CodeHostFault[]): boolean => {
    if (!kinds.includes(fault) || times <= 0) return false;
    times -= 1;
    return true;
  };
  const api = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
    };
    const send = ({ status, body }: Answer, more: Record<string, string> = {}): void =>
      void response.writeHead(status, { ...headers, ...more }).end(typeof body === 'string' ? body : JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}` || request.headers['user-agent'] === undefined)
      return send({ status: 401, body: { message: 'Bad credentials', status: '401' } });
    const problem = take('rate-limited', 'sends-on', 'unwell', 'no-json', 'echoes', 'too-much') ? faulty(fault, token) : null;
    if (problem !== null)
      return send(problem, {
        ...(fault === 'rate-limited' ? { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1893456000' } : {}),
        ...(fault === 'sends-on' ? { location: `${origin}/stolen` } : {}),
      });
    const answer = await answerApi(held, request, path);
    if (request.method === 'POST' && answer.status === 201 && take('loses-create')) return void request.socket.destroy();
    if (request.method === 'PUT' && answer.status === 200 && take('loses-merge')) return void request.socket.destroy();
    if (request.method === 'POST' && answer.status === 201 && take('holds-create')) return;
    send(answer);
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(`${request.method} ${path}`);
    if (path.startsWith('/api/v3/')) return void api(request, response, path.slice('/api/v3'.length));
    const isPush = path.endsWith('/git-receive-pack');
    if (passwordOf(request) !== token)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end('Bad credentials');
    if (isPush && take('loses-push')) response.end = (() => void request.socket.destroy()) as unknown as typeof response.end;
    if (isPush && take('holds-push')) response.end = (() => response) as typeof response.end;
    void gitBackend(request, response, { root, user: 'orrery' });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    origin,
    api: `${origin}/api/v3`,
    asked,
    add: (repository, from) => {
      const path = join(root, `${repository}.git`);
      mkdirSync(path, { recursive: true });
      execFileSync('git', ['clone', '--quiet', '--bare', '--no-hardlinks', from, path], { stdio: 'ignore' });
      gitOf(root, repository, 'config', 'http.receivepack', 'true');
      gitOf(root, repository, 'remote', 'remove', 'origin');
      held.pulls.set(repository, []);
      return `${origin}/${repository}.git`;
    },
    git: (repository, ...args) => gitOf(root, repository, ...args),
    pulls: (repository) => held.pulls.get(repository) ?? [],
    close: (repository, number, how) => {
      const pull = held.pulls.get(repository)?.find((one) => one.number === number);
      if (pull === undefined) return;
      pull.state = 'closed';
      pull.mergedAt = how === 'merged' ? '2026-01-01T00:00:00Z' : null;
    },
    check: (repository, branch, check) => {
      const key = `${repository} ${commitOf(root, repository, branch)}`;
      held.checks.set(key, [...(held.checks.get(key) ?? []).filter(({ name }) => name !== check.name), check]);
    },
    protect: (repository, words) => {
      if (words === null) held.protectedBy.delete(repository);
      else held.protectedBy.set(repository, words);
    },
    behave: (next, count = Number.POSITIVE_INFINITY) => {
      [fault, times] = [next, count];
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
