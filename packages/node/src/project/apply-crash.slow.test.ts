import { appendFileSync, existsSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, writeFiles } from '@orrery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openApplyPlace, type ApplyPlace } from '../../test/apply-place.ts';
import type { Apply } from './index.ts';

let place: ApplyPlace;
let root = '';
beforeEach(async () => {
  place = await openApplyPlace();
  root = place.root;
});
afterEach(() => place.node.close());

/** A step that is the last: nothing after the n-th ever happens. */
const lastStep = (nth: number): { step: () => Promise<void>; died: Promise<true> } => {
  const died = Promise.withResolvers<true>();
  let left = nth;
  const step = (): Promise<void> => {
    left -= 1;
    if (left > 0) return Promise.resolve();
    died.resolve(true);
    return new Promise(() => undefined);
  };
  return { step, died: died.promise };
};

/** Ends this life of the node at its n-th step. Answers whether it came that far. */
const dieAt = (nth: number, given: Apply): Promise<boolean> => {
  const { step, died } = lastStep(nth);
  const { results } = place.lifeOf(place.node.git, step);
  return Promise.race([died, results.apply(given).then(() => false)]);
};

const recoverNow = async (): Promise<void> => {
  expect(await place.lifeOf(place.node.git).recover()).toMatchObject({ waiting: [] });
};

const moveOn = (): void => {
  writeFiles(root, { 'meanwhile.txt': 'meanwhile\n' });
  gitIn(root, 'add', 'meanwhile.txt');
  gitIn(root, 'commit', '-q', '-m', 'meanwhile');
};

type Case = readonly [name: string, prepare: () => void, how: Partial<Apply>];

const cases: readonly Case[] = [
  ['into the tree, forward', () => undefined, {}],
  ['into the tree, by a merge', moveOn, {}],
  ['as a new branch', () => undefined, { mode: 'branch' }],
  ['as a branch that moves forward', () => void gitIn(root, 'branch', 'orrery/tsk_a'), { mode: 'branch' }],
];

describe('a node that ends at any step of an apply', () => {
  it.each(cases)(
    '%s, leaves what the next start makes whole or takes back: no lock, no stray file, nothing of the user’s touched',
    async (_, prepare, how) => {
      prepare();
      const given = { ...place.apply, ...how };
      const { before, after, restore } = await place.whole(given);
      expect(after).not.toEqual(before);
      const seen = { finished: 0, takenBack: 0 };
      for (let nth = 1; await dieAt(nth, given); nth++) {
        await recoverNow();
        const now = place.look();
        const finished = now.tree === after.tree && now.branches === after.branches;
        expect({ nth, ...now }).toEqual({ nth, ...(finished ? after : before) });
        seen[finished ? 'finished' : 'takenBack']++;
        // What is left must not be in the way of the same command either.
        await place.node.results.apply(given);
        expect({ nth, ...place.look() }).toEqual({ nth, ...after });
        restore();
      }
      expect(seen.takenBack).toBeGreaterThan(8);
      expect(seen.finished).toBeGreaterThan(3);
    },
    900_000,
  );

  it('and again at any step of the repair, comes to the same end', async () => {
    const { before, after, restore } = await place.whole(place.apply);
    for (const first of [12, 25, 31, 38]) {
      for (let second = 1; ; second++) {
        expect(await dieAt(first, place.apply)).toBe(true);
        const { step, died } = lastStep(second);
        const again = await Promise.race([died, place.lifeOf(place.node.git, step).recover()]);
        await recoverNow();
        const now = place.look();
        expect({ first, second, ...now }).toEqual({ first, second, ...(now.tree === after.tree ? after : before) });
        restore();
        if (again !== true) break;
      }
    }
  }, 900_000);

  it('leaves what the person did meanwhile: a file that was changed, one that was put in the way, the lock that was taken away', async () => {
    const { restore } = await place.whole(place.apply);
    let kept = 0;
    for (let nth = 1; await dieAt(nth, place.apply); nth++) {
      const placed = existsSync(join(root, 'new/deep/er.txt'));
      const gone = !existsSync(join(root, 'kept/two.txt'));
      if (placed) appendFileSync(join(root, 'new/deep/er.txt'), 'and mine\n');
      if (gone) writeFileSync(join(root, 'kept/two.txt'), 'mine now\n');
      await recoverNow();
      if (placed) expect(readFileSync(join(root, 'new/deep/er.txt'), 'utf8')).toBe('new\nand mine\n');
      if (gone) expect(readFileSync(join(root, 'kept/two.txt'), 'utf8')).toBe('mine now\n');
      expect(place.look().strays).toEqual([]);
      kept += Number(placed || gone);
      restore();
    }
    expect(kept).toBeGreaterThan(3);
  }, 900_000);

  it('takes no lock that is another’s, and puts nothing back after its own lock was taken away', async () => {
    const { restore } = await place.whole(place.apply);
    for (const nth of [12, 25, 31]) {
      expect(await dieAt(nth, place.apply)).toBe(true);
      const lock = join(root, '.git/index.lock');
      if (existsSync(lock)) unlinkSync(lock);
      writeFileSync(lock, 'of another program');
      await recoverNow();
      expect({ nth, lock: readFileSync(lock, 'utf8') }).toEqual({ nth, lock: 'of another program' });
      expect(readdirSync(join(root, '.git')).filter((name) => name.startsWith('orrery'))).toEqual([]);
      restore();
    }
    writeFileSync(join(root, '.git/index.lock'), '');
    await expect(place.node.results.apply(place.apply)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('index.lock'),
    });
    expect(place.look().strays).toEqual(['.git/index.lock']);
  }, 300_000);
});
