import { commitAll, gitIn, writeFiles } from '@orrery/testkit';
import type { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addTask, openHostPlace, workOf, type HostPlace } from '../../test/code-host-place.ts';
import { listAudit } from '../audit/index.ts';
import { remotesOf } from '../git/remotes.ts';
import type { Subject } from './model.ts';
import { createPullRequests, type PullRequests } from './service.ts';

const site = 'acme/site';
const taskId = 'tsk_00000000000000000000000001';
const branch = `orrery/${taskId}`;
let place: HostPlace;
let pulls: PullRequests;
let headSha = '';

const subject = (): Subject => ({
  ...{ kind: 'task', id: taskId, project: { id: place.projectId, name: 'site' }, command: `task pr ${taskId}`, branch },
  ...{ bases: ['main'], title: 'Fix the test', body: 'It is fixed.', remotes: () => remotesOf(place.git, place.root) },
  head: async () => ({ baseSha: place.baseSha, headSha }),
});
const open = (draft = false) =>
  pulls.open(subject(), {
    ...{ title: null, body: null, draft, base: null, branch: null, without: [], requestId: null, actor: 'token:owner' },
  });
const merge = (sha = headSha) => pulls.merge(subject(), { headSha: sha, method: null, actor: 'token:ann' });
const refused = (work: Promise<unknown>): Promise<OrreryError> =>
  work.then(
    () => expect.fail('it was not refused'),
    (thrown: unknown) => thrown as OrreryError,
  );
const standing = async () => (await pulls.look(subject(), { refresh: true })).standing;
const merges = (): number => place.server.asked.filter((line) => line.startsWith('PUT')).length;

beforeEach(async () => {
  place = await openHostPlace();
  const { node, git, hosts } = place;
  pulls = createPullRequests({ ...node, git, hosts, mirrorOf: node.workspace.mirrorOf, step: async () => undefined });
  await addTask(place, taskId);
  headSha = await workOf(place, { taskId, attempt: 1, files: { 'new.txt': '1\n' } });
});
afterEach(() => place.close());

describe('a pull request at its host', () => {
  it('is shown with its checks, what failed first, and with what keeps it from being merged', async () => {
    await open();
    expect(await standing()).toEqual({
      ...{ headSha, state: 'none', checks: [], total: 0, merging: 'clean', methods: ['merge', 'squash'] },
    });
    place.server.check(site, branch, { name: 'build', kind: 'run', conclusion: 'success' });
    place.server.check(site, branch, { name: 'deploy', kind: 'status', conclusion: null });
    place.server.check(site, branch, { name: 'test', kind: 'run', conclusion: 'failure' });
    place.server.protect(site, 'At least 1 approving review is required.');
    // What was seen some seconds ago is not asked for again.
    expect((await standing())?.state).toBe('none');
    pulls = createPullRequests({ ...place.node, ...place, mirrorOf: place.node.workspace.mirrorOf, step: async () => undefined });
    const now = await standing();
    expect([now?.state, now?.merging, now?.checks.map(({ name, state }) => `${name} ${state}`)]).toEqual([
      ...['failed', 'blocked'],
      ['test failed', 'deploy pending', 'build passed'],
    ]);
    expect((await refused(merge())).message).toContain('At least 1 approving review is required.');
    expect(place.server.pulls(site)[0]?.state).toBe('open');
  });

  it('is merged by a word, at the commit that was seen, and that is recorded', async () => {
    await open();
    expect((await refused(merge('a'.repeat(40)))).code).toBe('conflict');
    expect(merges()).toBe(0);
    expect(await merge()).toMatchObject({ outcome: 'merged', pullRequest: { number: 1, state: 'merged' } });
    expect(await merge()).toMatchObject({ outcome: 'was-merged' });
    expect(merges()).toBe(1);
    expect(place.server.git(site, 'show', 'main:new.txt')).toBe('1');
    expect(await listAudit(place.node.store.read, { limit: 9, action: 'pull-request.merge' })).toMatchObject([
      { actor: 'token:ann', subject: taskId, outcome: 'done', detail: { number: 1, method: 'merge', headSha } },
    ]);
    expect(await standing()).toBeNull();
  });

  it('is known to be merged when the answer was lost', async () => {
    await open();
    place.server.behave('loses-merge', 1);
    expect(await merge()).toMatchObject({ outcome: 'merged', pullRequest: { state: 'merged' } });
    expect(merges()).toBe(1);
  });

  it('is not merged as a draft, with a conflict, when it is over, or when there is none', async () => {
    expect((await refused(merge())).message).toBe('There is no pull request to merge.');
    await open(true);
    expect((await standing())?.merging).toBe('draft');
    expect((await refused(merge())).code).toBe('codehost_refused');
    const other = `${place.node.folder}/other`;
    gitIn(place.root, 'clone', '--quiet', `${place.node.folder}/host/${site}.git`, other);
    writeFiles(other, { 'new.txt': 'another\n' });
    commitAll(other, 'another');
    gitIn(other, 'push', '--quiet', 'origin', 'HEAD:main');
    pulls = createPullRequests({ ...place.node, ...place, mirrorOf: place.node.workspace.mirrorOf, step: async () => undefined });
    expect((await standing())?.merging).toBe('conflicts');
    expect((await refused(merge())).code).toBe('codehost_refused');
    place.server.close(site, 1, 'closed');
    expect((await refused(merge())).message).toContain('is closed');
  });
});
