import { commitAll, gitIn, writeFiles, type CodeHostFault } from '@orrery/testkit';
import type { PullRequestOpened } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addTask, openHostPlace, TOKEN, workOf, type HostPlace } from '../../test/code-host-place.ts';
import { listAudit } from '../audit/index.ts';
import { remotesOf } from '../git/remotes.ts';
import type { Subject } from './model.ts';
import type { Asked, OpenParts } from './open.ts';
import { createPullRequests, type PullRequests } from './service.ts';

let place: HostPlace;
/** Where the node dies next. */
let dies: string | null = null;
let headSha = '';
const site = 'acme/site';
const taskId = 'tsk_00000000000000000000000001';
const branch = `orrery/${taskId}`;

const step: OpenParts['step'] = async (after) => {
  if (after === dies) throw new Error('the node died');
};

/** The use cases as a node has them that just started. */
const started = (): PullRequests => {
  const { node, git, hosts } = place;
  return createPullRequests({ ...node, git, hosts, mirrorOf: node.workspace.mirrorOf, step });
};

const work = async (attempt: number): Promise<void> => {
  headSha = await workOf(place, { taskId, attempt, files: { 'new.txt': `${attempt}\n` } });
};

const subject = (): Subject => ({
  kind: 'task',
  id: taskId,
  project: { id: place.projectId, name: 'site' },
  command: `task pr ${taskId}`,
  branch,
  bases: ['main'],
  title: 'Fix the test',
  body: 'It is fixed.',
  remotes: () => remotesOf(place.git, place.root),
  head: async () => ({ baseSha: place.baseSha, headSha }),
});

const nothing: Asked = {
  ...{ title: null, body: null, draft: false, base: null, branch: null, without: [], requestId: null, actor: 'token:owner' },
};
const open = (asked: Partial<Asked> = {}, pulls = started()): Promise<PullRequestOpened> =>
  pulls.open(subject(), { ...nothing, ...asked });
const refused = (asked: Partial<Asked> = {}): Promise<OrreryError> =>
  open(asked).then(
    () => expect.fail('it was not refused'),
    (thrown: unknown) => (thrown instanceof OrreryError ? thrown : expect.fail(String(thrown))),
  );
const atHost = (): string => place.server.git(site, 'rev-parse', `refs/heads/${branch}`);
const pushes = (): number => place.server.asked.filter((line) => line.endsWith('/git-receive-pack')).length;

beforeEach(async () => {
  dies = null;
  place = await openHostPlace();
  await addTask(place, taskId);
  await work(1);
});
afterEach(() => place.close());

describe('a pull request', () => {
  it('is opened from the result, once, and told', async () => {
    const { pullRequest, ...rest } = await open();
    expect(rest).toEqual({ outcome: 'opened', note: `It goes from ${branch} into main.`, replayed: false });
    expect(pullRequest).toMatchObject({
      ...{ host: 'local', repository: site, state: 'open', number: 1, title: 'Fix the test', draft: false },
      ...{ url: `${place.server.origin}/${site}/pull/1`, branch, base: 'main', headSha },
    });
    expect(atHost()).toBe(headSha);
    expect(place.server.pulls(site)).toMatchObject([{ title: 'Fix the test', body: 'It is fixed.', head: branch, base: 'main' }]);
    const told = place.node.events.flatMap(({ taskId: of, body }) => (body.kind === 'task.pull-request' ? [[of, body]] : []));
    expect(told).toEqual([[taskId, { kind: 'task.pull-request', number: 1, url: pullRequest.url, state: 'open', headSha }]]);
    expect((await listAudit(place.node.store.read, { limit: 10 }))[0]).toMatchObject({
      ...{ actor: 'token:owner', action: 'pull-request.open', subject: taskId, outcome: 'done' },
    });
  });

  it('says what is asked for', async () => {
    gitIn(place.root, 'branch', 'next');
    place.server.git(site, 'branch', 'next', 'main');
    await open({ title: 'Mine', body: 'Words', draft: true, base: 'next', branch: 'mine/one' });
    expect(place.server.pulls(site)).toMatchObject([
      { title: 'Mine', body: 'Words', draft: true, base: 'next', head: 'mine/one' },
    ]);
  });

  it('is brought up to what was done since, and stays one', async () => {
    await open();
    expect(await open()).toMatchObject({ outcome: 'unchanged' });
    expect(pushes()).toBe(1);
    await work(2);
    const { outcome, pullRequest } = await open({ title: 'Another' });
    expect([outcome, pullRequest.number, pullRequest.title, pullRequest.headSha]).toEqual([
      'updated',
      1,
      'Fix the test',
      headSha,
    ]);
    expect([atHost(), place.server.pulls(site).length]).toEqual([headSha, 1]);
    // Another history of the same task: replaced, since what is there is what the node pushed.
    gitIn(place.root, 'commit', '-q', '--allow-empty', '-m', 'elsewhere');
    await place.node.projects.refresh(place.projectId);
    headSha = gitIn(place.root, 'rev-parse', 'HEAD');
    expect(await open()).toMatchObject({ outcome: 'updated' });
    expect(atHost()).toBe(headSha);
  });

  it('is the same answer for the same request, and no answer for another one under its id', async () => {
    const first = await open({ requestId: 'r1' });
    await work(2);
    expect(await open({ requestId: 'r1' })).toEqual({ ...first, replayed: true });
    expect(pushes()).toBe(1);
    expect((await refused({ requestId: 'r1', draft: true })).code).toBe('request_conflict');
  });

  it('is one although two ask at once', async () => {
    const pulls = started();
    const both = await Promise.all([open({}, pulls), open({}, pulls)]);
    expect(both.map(({ outcome }) => outcome)).toEqual(['opened', 'unchanged']);
    expect(place.server.pulls(site)).toHaveLength(1);
  });

  it('that is over is not pushed to, and what its host says is known', async () => {
    for (const how of ['closed', 'merged'] as const) {
      const own = { branch: `try/${how}` };
      const { pullRequest } = await open(own);
      place.server.close(site, pullRequest.number ?? 0, how);
      await work(pullRequest.number === 1 ? 2 : 3);
      expect(await refused(own)).toMatchObject({
        code: 'conflict',
        message: `The pull request #${pullRequest.number} of try/${how} is ${how}.`,
      });
      const { pullRequest: seen } = await started().look(subject(), { refresh: false });
      expect(seen?.state).toBe(how);
    }
  });

  it('leaves the user’s repository as it was, and no pack behind', async () => {
    const config = readFileSync(join(place.root, '.git/config'), 'utf8');
    const refs = gitIn(place.root, 'for-each-ref');
    await open();
    expect(readFileSync(join(place.root, '.git/config'), 'utf8')).toBe(config);
    expect(gitIn(place.root, 'for-each-ref')).toBe(refs);
    expect(existsSync(place.packs) ? readdirSync(place.packs) : []).toEqual([]);
  });
});

describe('a node that dies', () => {
  it.each(['recorded', 'pushed', 'noted', 'created'])('after "%s" opens one all the same, and never two', async (at) => {
    dies = at;
    await expect(open({ requestId: 'r1' })).rejects.toThrow('the node died');
    const { pullRequest: begun } = await started().look(subject(), { refresh: true });
    expect(begun).toMatchObject({ number: null, state: at === 'recorded' || at === 'pushed' ? 'pushing' : 'creating' });
    dies = null;
    const { pullRequest, outcome, replayed } = await open({ requestId: 'r1' });
    expect([outcome, replayed, pullRequest.number, pullRequest.state]).toEqual(['opened', false, 1, 'open']);
    expect([place.server.pulls(site).length, atHost(), pushes()]).toEqual([1, headSha, 1]);
  });

  it.each(['recorded', 'pushed', 'noted'])('after "%s" goes on with work that was done meanwhile', async (at) => {
    dies = at;
    await expect(open()).rejects.toThrow('the node died');
    await work(2);
    await expect(open()).rejects.toThrow('the node died');
    await work(3);
    dies = null;
    expect(await open()).toMatchObject({ outcome: 'opened' });
    expect([place.server.pulls(site).length, atHost()]).toEqual([1, headSha]);
  });

  it('after one was made that a person closed since opens no second one', async () => {
    dies = 'created';
    await expect(open()).rejects.toThrow('the node died');
    place.server.close(site, 1, 'closed');
    dies = null;
    expect((await open()).pullRequest).toMatchObject({ number: 1, state: 'closed' });
    expect(place.server.pulls(site)).toHaveLength(1);
  });

  it.each(['loses-push', 'loses-create'] as const)('or a line that breaks (%s) is gone on from', async (fault) => {
    place.server.behave(fault, 1);
    expect(await refused()).toMatchObject({ code: 'codehost_unreachable' });
    expect(await open()).toMatchObject({ outcome: 'opened', pullRequest: { number: 1 } });
    expect([place.server.pulls(site).length, atHost(), pushes()]).toEqual([1, headSha, 1]);
  });
});

describe('what is refused', () => {
  it('is a branch that somebody else has, made or moved', async () => {
    place.server.git(site, 'branch', branch, 'main');
    writeFiles(place.root, { 'theirs.txt': 'x\n' });
    const theirs = commitAll(place.root, 'theirs');
    place.server.git(site, 'fetch', '--quiet', place.root, `+${theirs}:refs/heads/${branch}`);
    expect(await refused()).toMatchObject({ code: 'conflict', fix: `orrery task pr ${taskId} --branch NAME` });
    expect(atHost()).toBe(theirs);
    await open({ branch: 'ours' });
    place.server.git(site, 'update-ref', 'refs/heads/ours', theirs);
    await work(2);
    expect((await refused({ branch: 'ours' })).code).toBe('conflict');
    expect(place.server.git(site, 'rev-parse', 'ours')).toBe(theirs);
  });

  it('is a base that is not there, one that is itself, and work that changed nothing', async () => {
    expect(await refused({ base: 'nope' })).toMatchObject({ code: 'unknown_name', message: 'acme/site has no branch "nope".' });
    expect((await refused({ branch: 'main', base: 'main' })).code).toBe('invalid_input');
    expect((await refused({ branch: '../x' })).code).toBe('invalid_input');
    headSha = place.baseSha;
    expect((await refused()).message).toMatch(/^Nothing was changed/);
    expect(place.server.pulls(site)).toEqual([]);
  });

  it('is a project of no code host, and a code host without a token; both can be seen before', async () => {
    place.setToken(null);
    expect((await refused()).toLines()).toEqual([
      'The code host local has no token: the secret "local" is not set.',
      'Branches are pushed and pull requests opened with a token of the operator’s.',
      'orrery secret set local',
    ]);
    expect((await started().look(subject(), { refresh: false })).problem?.fix).toBe('orrery secret set local');
    gitIn(place.root, 'remote', 'set-url', 'origin', 'git@github.com:acme/site.git');
    expect((await refused()).toLines()).toEqual([
      'No code host is configured for github.com, where site comes from.',
      'A pull request is opened at a code host that the operator configured, in the repository that a remote names.',
      'Write into /etc/orrery/config.yaml: codehosts: {github: {}}, then: orrery secret set github',
    ]);
    expect(await started().look(subject(), { refresh: false })).toMatchObject({ host: null, pullRequest: null });
    expect(place.server.asked).toEqual([]);
  });

  const problems: readonly [CodeHostFault, string, RegExp][] = [
    ['rate-limited', 'rate_limited', /takes no more requests of this token now \(until 2030-01-01T00:00:00.000Z\)/],
    ['sends-on', 'codehost_refused', /on to another address/],
    ['unwell', 'codehost_unreachable', /it answered 502/],
    ['no-json', 'codehost_unreachable', /not one of GitHub/],
    ['too-much', 'codehost_unreachable', /more than \d+ bytes/],
    ['echoes', 'codehost_refused', /Validation Failed for Bearer \(hidden\)/],
  ];
  it.each(problems)('by a host that is %s is said, and can be tried again', async (fault, code, message) => {
    place.server.behave(fault, 1);
    const error = await refused();
    expect([error.code, error.toLines().length]).toEqual([code, error.rule === null ? error.toLines().length : 3]);
    expect(error.message).toMatch(message);
    expect(place.server.asked.filter((line) => line.includes('stolen'))).toEqual([]);
    expect(JSON.stringify(error.toBody())).not.toContain(TOKEN);
    expect(await open()).toMatchObject({ outcome: 'opened' });
  });

  it('by a host that does not know the token says which secret to set', async () => {
    place.setToken('ghp_another');
    const error = await refused();
    expect([error.code, JSON.stringify(error.toBody()).includes('ghp_another')]).toEqual(['codehost_refused', false]);
  });
});

describe('the token', () => {
  it('is in no argument, environment, file, log or event, whatever happens', async () => {
    await open();
    for (const fault of ['echoes', 'unwell', 'sends-on', 'loses-create'] as const) {
      place.server.behave(fault, 1);
      await refused({ branch: `try/${fault}` });
    }
    const coded = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    const hidden = [TOKEN, coded, encodeURIComponent(TOKEN)];
    expect(place.started.length).toBeGreaterThan(5);
    const everything = JSON.stringify([place.started, place.node.lines, place.node.events, place.server.asked]);
    for (const secret of hidden) expect(everything).not.toContain(secret);
    const rows = await place.node.store.read.selectFrom('pull_request').selectAll().execute();
    for (const secret of hidden) expect(JSON.stringify(rows)).not.toContain(secret);
    const files = readdirSync(place.node.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const file of files)
      for (const secret of hidden) expect(readFileSync(join(file.parentPath, file.name)).includes(secret)).toBe(false);
  });
});
