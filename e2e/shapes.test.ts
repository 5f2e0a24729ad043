/** Repositories in every state that people's repositories are in, and agents that wreck the one they were given. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { Task } from '@orrery/protocol';
import { gitIn, gitShapes, largeRepository, type ShapeName } from '@orrery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { fileAt, makeRepository } from './support/repository.ts';
import { taskEnd } from './support/wait.ts';

const place = placeOfSuite({ queue: { parallel: 4, perProject: 4 } });
let life: Life;
let client: Client;
beforeAll(async () => {
  life = await place.up();
  client = place.client(life);
});

/** Those that are refused, and the sentence that says why, first: when they are added, or (what may still come) when a task begins. */
const refused: Partial<Record<ShapeName, RegExp>> = {
  noCommits: /has no commit yet\./,
  sha256: / uses sha256 object names/,
  partialClone: / is a partial clone/,
};

const folderOf = (name: string): string => {
  const folder = join(place.folder, 'repositories', name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

const state = (path: string): string => [gitIn(path, 'for-each-ref'), gitIn(path, 'config', '--list', '--local')].join('\n');

describe.concurrent('a repository', () => {
  it.for(Object.keys(gitShapes) as ShapeName[])('%s works or is refused in one sentence, and stays as it was', async (name) => {
    const shape = gitShapes[name](folderOf(name));
    const before = state(shape.root);
    const added = await place.cli(['project', 'add', shape.path, '--json']);
    const { project } = (added.envelope().result ?? {}) as { project?: { id: string } };
    const run =
      project === undefined
        ? added
        : await place.cli([
            'run',
            '--json',
            '--project',
            project.id,
            '--command',
            'x',
            '--',
            'sh',
            '-c',
            'ls -A > listing.txt; test -e .git',
          ]);
    const { error } = run.envelope();
    const why = refused[name];
    if (why !== undefined) {
      expect([run.envelope().ok, run.code]).toEqual([false, project === undefined ? 8 : 1]);
      expect(error?.message).toMatch(why);
      expect(state(shape.root)).toBe(before);
      return;
    }
    expect([run.code, error]).toEqual([0, undefined]);
    expect((run.envelope().result as { task: Task }).task.result?.filesChanged).toBe(1);
    expect(state(shape.root)).toBe(before);
  });

  it('of 20,000 files works, and its second task begins at once', { timeout: 300_000 }, async () => {
    const { root } = largeRepository(folderOf('large'), 20_000);
    await client.call('projectAdd', { body: { source: root }, timeoutMs: 120_000 });
    const conduct = async (): Promise<Task> => {
      const { id } = await client.call('taskAdd', {
        body: { prompt: 'x', project: root, harness: 'command', command: ['sh', '-c', 'echo changed > d7/f700.txt'] },
      });
      return taskEnd(client, id, 200_000);
    };
    for (const round of [1, 2])
      expect([round, (await conduct()).result]).toMatchObject([round, { filesChanged: 1, insertions: 1, deletions: 2 }]);
  });
});

/** What an agent may do to the `.git` of its checkout; the work beside it is collected all the same. */
const wrecks: Readonly<Record<string, string>> = {
  'removes its .git': 'rm -rf .git',
  'makes .git a file': 'rm -rf .git; echo nonsense > .git',
  'makes .git a link to elsewhere': 'rm -rf .git; ln -s /etc .git',
  'empties HEAD': ': > .git/HEAD',
  'breaks the index': 'echo nonsense > .git/index',
  'switches the branch':
    'git checkout -q -b elsewhere; git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m elsewhere',
  'detaches HEAD': 'git checkout -q --detach',
  'flips core.bare': 'git config core.bare true',
  'moves the work tree': 'git config core.worktree /tmp',
  'leaves a lock': 'touch .git/index.lock .git/HEAD.lock',
  'commits and resets': 'git add -A; git -c user.name=a -c user.email=a@b.c commit -q -m work; git reset -q --soft HEAD~1',
  'leaves a merge half done': `git config user.name a; git config user.email a@b.c; git checkout -q -b side; echo side > src/main.txt; git commit -q -a -m side
git checkout -q -; echo main > src/main.txt; git commit -q -a -m main; git merge -q side; git checkout -q --ours src/main.txt`,
  'plants a hook and a filter': `mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch ran-hook\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change
git config filter.x.clean 'touch ran-filter; cat'; echo '*.txt filter=x' > .gitattributes; git config core.fsmonitor 'touch ran-monitor'`,
};

describe.concurrent('an agent that', () => {
  it.for(Object.entries(wrecks))(
    '%s: its files are collected, the repository is untouched, the next task is clean',
    async ([what, script]) => {
      const repository = makeRepository(place, what.replaceAll(/[^a-z]+/gi, '-'));
      await client.call('projectAdd', { body: { source: repository } });
      const before = state(repository);
      const send = async (command: string): Promise<Task> => {
        const { id } = await client.call('taskAdd', {
          body: { prompt: 'x', project: repository, harness: 'command', command: ['sh', '-c', command] },
        });
        return taskEnd(client, id);
      };
      const task = await send(`echo work > work.txt\n${script}\ntrue`);
      expect([task.verdict, task.reason]).toEqual(['accepted', null]);
      expect(state(repository)).toBe(before);
      const applied = await client.call('taskApply', { params: { id: task.id }, body: { mode: 'branch' } });
      expect(
        [
          fileAt(repository, applied.headSha, 'work.txt'),
          ...['ran-hook', 'ran-filter', 'ran-monitor'].map((file) => fileAt(repository, applied.headSha, file)),
        ].slice(0, what.startsWith('plants') ? 1 : 4),
      ).toEqual(what.startsWith('plants') ? ['work'] : ['work', null, null, null]);
      const next = await send(
        'git status --porcelain > /dev/null && test -z "$(git status --porcelain)" && test ! -e work.txt && git log --oneline | wc -l | grep -qx 2',
      );
      expect([next.verdict, next.reason]).toEqual(['accepted', null]);
    },
  );
});

describe('when all of that is over', () => {
  it('nothing is left behind', async () => {
    expect(await settledLeftovers(place, life.pid, 30_000)).toEqual(nothing);
  });
});
