import { commitAll, gitIn, writeFiles } from '@orrery/testkit';
import { OrreryError } from '@orrery/protocol/errors';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addTask, openHostPlace, workOf, type HostPlace } from '../../test/code-host-place.ts';
import { remotesOf } from '../git/remotes.ts';
import type { Subject } from './model.ts';
import type { Asked } from './open.ts';
import { createPullRequests, type PullRequests } from './service.ts';

let place: HostPlace;
let pulls: PullRequests;
const site = 'acme/site';
const taskId = 'tsk_00000000000000000000000001';
const branch = `orrery/${taskId}`;

const subjectAt = (
  project: Subject['project'],
  folder: string,
  head: { readonly baseSha: string; readonly headSha: string },
): Subject => ({
  ...{ kind: 'task', id: taskId, project, command: `task pr ${taskId}`, branch, bases: ['main'], title: 'Fix it', body: '' },
  remotes: () => remotesOf(place.git, folder),
  head: async () => head,
});

const nothing: Asked = {
  ...{ title: null, body: null, draft: false, base: null, branch: null, without: [], requestId: null, actor: 'token:owner' },
};

beforeEach(async () => {
  place = await openHostPlace();
  const { node, git, hosts } = place;
  await addTask(place, taskId);
  pulls = createPullRequests({ ...node, git, hosts, mirrorOf: node.workspace.mirrorOf, step: async () => undefined });
});
afterEach(() => place.close());

describe('a pull request of another history than the host has', () => {
  it('takes commits along that the host did not have, and says how many', async () => {
    writeFiles(place.root, { 'mine.txt': 'not pushed\n' });
    const baseSha = commitAll(place.root, 'mine');
    await place.node.projects.refresh(place.projectId);
    const mine = { ...place, baseSha };
    const headSha = await workOf(mine, { taskId: 'tsk_b', attempt: 1, files: { 'new.txt': 'on top\n' } });
    const on = subjectAt({ id: place.projectId, name: 'site' }, place.root, { baseSha, headSha });
    const { note } = await pulls.open(on, nothing);
    expect(note).toContain(' It also has 1 commit that the work began at and the host did not have.');
    expect(place.server.git(site, 'rev-list', '--count', `main..${branch}`)).toBe('2');
  });

  it('is opened from a shallow clone, too: what the host has is not sent', async () => {
    for (const one of ['second', 'third']) commitAll(place.root, one);
    place.server.git(site, 'fetch', '--quiet', place.root, '+main:main');
    const shallow = join(place.node.folder, 'shallow');
    gitIn(place.node.folder, 'clone', '-q', '--depth=1', `file://${place.root}`, shallow);
    gitIn(shallow, 'remote', 'set-url', 'origin', `${place.server.origin}/${site}.git`);
    const { id: projectId } = await place.node.projects.add({ source: shallow });
    const baseSha = gitIn(shallow, 'rev-parse', 'HEAD');
    const headSha = await workOf(
      { node: place.node, projectId, baseSha },
      { taskId: 'tsk_c', attempt: 1, files: { 'new.txt': 's\n' } },
    );
    const on = subjectAt({ id: projectId, name: 'shallow' }, shallow, { baseSha, headSha });
    expect(await pulls.open(on, nothing)).toMatchObject({ outcome: 'opened', note: `It goes from ${branch} into main.` });
    expect(place.server.git(site, 'rev-list', '--count', branch)).toBe('4');
    expect(place.server.git(site, 'fsck', '--connectivity-only')).not.toMatch(/missing|broken/);
  });
});

describe('what a host has, or says, of others', () => {
  let on: Subject;
  let titles: string[];
  const has = (): string => place.server.git(site, 'for-each-ref', '--format=%(refname) %(objectname)');
  const refused = (asked: Partial<Asked> = {}) =>
    pulls.open(on, { ...nothing, ...asked }).then(
      () => expect.fail('it was not refused'),
      (thrown: unknown) => (thrown instanceof OrreryError ? thrown : expect.fail(String(thrown))),
    );
  beforeEach(async () => {
    const headSha = await workOf(place, { taskId: 'tsk_d', attempt: 1, files: { 'new.txt': 'd\n' } });
    titles = [];
    on = {
      ...subjectAt({ id: place.projectId, name: 'site' }, place.root, { baseSha: place.baseSha, headSha }),
      head: async ({ title }) => (titles.push(title), { baseSha: place.baseSha, headSha }),
    };
  });

  it('a repository without branches gets none of a result, under any name', async () => {
    place.server.git(site, 'update-ref', '-d', 'refs/heads/main');
    for (const asked of [{}, { branch: 'main' }, { base: 'main' }, { branch: 'main', base: 'next' }]) {
      const error = await refused(asked);
      expect(error.toLines()).toEqual([
        `acme/site has no branch "${asked.base ?? 'main'}".`,
        'A pull request goes into a branch that is there.',
        `git push REMOTE ${asked.base ?? 'main'}`,
      ]);
    }
    expect([has(), (await pulls.look(on, { refresh: false })).pullRequest]).toEqual(['', null]);
  });

  it('neither its default branch that is not there nor one that is pushed is a base', async () => {
    on = { ...on, bases: ['nowhere'] };
    expect(await refused({ branch: 'main' })).toMatchObject({ code: 'invalid_input' });
    place.server.git(site, 'branch', '-m', 'main', 'trunk');
    expect(await refused()).toMatchObject({ code: 'unknown_name', fix: `orrery task pr ${taskId} --base trunk` });
    expect([has().split(' ')[0], (await pulls.look(on, { refresh: false })).pullRequest]).toEqual(['refs/heads/trunk', null]);
  });

  it('a push that was refused makes a branch of somebody else’s nobody’s but theirs', async () => {
    const hook = join(place.node.folder, 'host', `${site}.git`, 'hooks', 'pre-receive');
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect((await refused()).code).toBe('codehost_refused');
    rmSync(hook);
    // Somebody's, at a commit that the result goes on from.
    place.server.git(site, 'branch', branch, 'main');
    const before = has();
    for (let tries = 0; tries < 2; tries++) expect((await refused()).code).toBe('conflict');
    expect(has()).toBe(before);
    place.server.git(site, 'branch', '-D', branch);
    expect((await pulls.open(on, nothing)).outcome).toBe('opened');
    // Ours now: it may be set back there and is still gone on from.
    place.server.git(site, 'update-ref', `refs/heads/${branch}`, place.baseSha);
    expect((await pulls.open(on, nothing)).outcome).toBe('updated');
  });

  it('a title that was changed there stays one line, also as the message of a commit', async () => {
    await pulls.open(on, nothing);
    const [one] = place.server.pulls(site);
    if (one !== undefined) one.title = 'Theirs\n\nSigned-off-by: x <x@x.test>\u202e';
    await pulls.open(on, nothing);
    const seen = 'Theirs Signed-off-by: x <x@x.test>';
    expect((await pulls.look(on, { refresh: false })).pullRequest?.title).toBe(seen);
    await pulls.open(on, nothing);
    expect(titles).toEqual(['Fix it', 'Fix it', seen]);
  });
});
