import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createOpenPlaces } from './open-places.ts';

const unused = (): never => {
  throw new Error('nothing is opened here');
};

describe('what names nothing', () => {
  let directory = '';
  let store: Store;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-places-'));
    const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('is called what the person meant: a task by its id, an environment by anything else', async () => {
    const taskId = async (reference: string): Promise<string> => {
      throw new OrreryError(reference === 'tsk_a' ? 'ambiguous' : 'not_found', `There is no task ${reference}.`);
    };
    const places = createOpenPlaces({ store, backend: unused, environments: { open: unused }, taskId });
    const said = (asked: Promise<unknown>): Promise<string> => asked.then(JSON.stringify, (thrown: Error) => thrown.message);
    const answers = await Promise.all(
      ['fix', 'env_1', 'tsk_1'].flatMap((reference) => [said(places.subject(reference)), said(places.find(reference))]),
    );
    expect(answers).toEqual([
      'There is no environment fix.',
      'There is no environment fix.',
      '{"environmentId":"env_1"}',
      'There is no environment env_1.',
      'There is no task tsk_1.',
      'There is no task tsk_1.',
    ]);
    await expect(places.find('tsk_a')).rejects.toMatchObject({ code: 'ambiguous' });
  });
});
