import { commitAll, gitIn, writeFiles } from '@orrery/testkit';
import { join } from 'node:path';
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
