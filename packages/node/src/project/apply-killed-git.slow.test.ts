import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openApplyPlace, type ApplyPlace } from '../../test/apply-place.ts';
import { openStarter } from '../../test/both-spawners.ts';
import { createGit } from '../git/run.ts';
import type { Spawner } from '../kernel/spawner.ts';
import type { Starter } from '../starter/index.ts';

let place: ApplyPlace;
let starter: Starter;
let root = '';
beforeEach(async () => {
  place = await openApplyPlace();
  starter = openStarter();
  root = place.root;
});
afterEach(async () => {
  await starter.close();
  await place.node.close();
});

/** Ends the n-th command by SIGKILL, right after its start or a moment later. */
const killing = (spawner: Spawner, nth: number, afterMs: number): { spawner: Spawner; met: () => boolean } => {
  let left = nth;
  return {
    met: () => left <= 0,
    spawner: {
      start: (command) => {
        const started = spawner.start(command);
        left -= 1;
        if (left === 0) setTimeout(started.endGroup, afterMs);
        return started;
      },
    },
  };
};

describe('a Git command that is ended in the middle of an apply', () => {
  it.each([
    ['into the tree', {}],
    ['as a branch', { mode: 'branch' }],
  ] as const)(
    '%s, whichever it is, costs the apply and nothing else',
    async (_, how) => {
      const given = { ...place.apply, ...how };
      const { before, after, restore } = await place.whole(given);
      const environment = { ...process.env, HOME: place.node.home };
      for (const afterMs of [0, 3]) {
        for (let nth = 1; ; nth++) {
          const { spawner, met } = killing(starter, nth, afterMs);
          const { results } = place.lifeOf(createGit({ environment, spawner }));
          const outcome = await results.apply(given).then(
            () => 'applied',
            () => 'failed',
          );
          await place.lifeOf(place.node.git).recover();
          const now = place.look();
          const finished = now.tree === after.tree && now.branches === after.branches;
          expect({ nth, afterMs, ...now }).toEqual({ nth, afterMs, ...(finished || outcome === 'applied' ? after : before) });
          restore();
          if (!met()) break;
        }
      }
    },
    900_000,
  );

  it('in a filter of the repository, which is when files are written, leaves them as they were', async () => {
    writeFiles(root, { '.gitattributes': '*.txt filter=slow\n' });
    gitIn(root, 'add', '.gitattributes');
    gitIn(root, 'commit', '-q', '-m', 'attributes');
    const seen = join(place.node.folder, 'seen');
    const script = join(place.node.folder, 'filter.sh');
    // A shell may stand between Git and the filter.
    const find = 'p=$PPID; while [ "$(cat /proc/$p/comm)" != git ]; do p=$(cut -d" " -f4 /proc/$p/stat); done';
    writeFileSync(script, `case "$1" in new/*) ${find}; echo $p > '${seen}'; kill -9 $p; exit 1;; esac\ncat\n`);
    gitIn(root, 'config', 'filter.slow.smudge', `sh ${script} %f`);
    gitIn(root, 'config', 'filter.slow.clean', 'cat');
    const before = place.look();
    await expect(place.node.results.apply(place.apply)).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringContaining('git read-tree failed'),
    });
    expect(existsSync(seen)).toBe(true);
    expect(place.look()).toEqual(before);
    gitIn(root, 'config', 'filter.slow.smudge', 'cat');
    await place.node.results.apply(place.apply);
    expect(readFileSync(join(root, 'new/deep/er.txt'), 'utf8')).toBe('new\n');
  }, 120_000);
});
