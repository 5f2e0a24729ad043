/** A node that is killed at every named point of what is done to an environment of its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { EnvironmentView } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { environmentKillPoints } from '../packages/node/src/run/kill-points.ts';
import { codeOf } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { asked, died } from './support/dying.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { lentPlaces, type LentPlace } from './support/lent-places.ts';
import { processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';

/** What is done, with an environment that is ready and holds a file of its own. */
const operations: Readonly<Record<string, (client: Client, environment: EnvironmentView) => Promise<unknown>>> = {
  start: (client, { id }) => client.call('environmentStart', { params: { id } }),
  stop: (client, { id }) => client.call('environmentStop', { params: { id } }),
  recreate: (client, { id }) => client.call('environmentRecreate', { params: { id } }),
  fork: (client, { id, name }) =>
    client.call('environmentFork', { params: { id }, body: { name: `copy-of-${name}`, requestId: `copy-of-${name}` } }),
  delete: (client, { id }) => client.call('environmentDelete', { params: { id }, query: { salvage: 'true' } }),
};

const lend = lentPlaces();

const made = (client: Client, repository: string, name: string): Promise<EnvironmentView> =>
  client.call('environmentCreate', { body: { project: repository, name, requestId: name } });

/** Dies at a point while an environment is made; answers what the next start came to. */
const creatingDiesAt = async (place: LentPlace, point: string, init: string): Promise<EnvironmentView> => {
  const repository = makeRepository(place, place.row, { init });
  const first = await place.up({ killAt: point });
  const before = place.client(first);
  await before.call('projectAdd', { body: { source: repository } });
  await asked(made(before, repository, place.row));
  await died(first, point);
  const life = await place.up();
  const client = place.client(life);
  const { id } = await made(client, repository, place.row);
  const settled = await settledEnvironment(client, id);
  const leftRunning = processesOf(place.folder, [life.pid]).filter(({ command }) => command.includes('sleep 600'));
  expect(leftRunning).toEqual([]);
  await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
  expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  return settled;
};

const beforeSetup = ['checkout-made', 'place-made', 'made', 'place-opened', 'started'].map((name) => `environment-${name}`);
const duringSetup = ['setup-begun', 'script-going', 'script-ended'].map((name) => `environment-${name}`);

describe('a node that dies while an environment is made', () => {
  it.for(beforeSetup)('at %s makes it to its end, with its set-up run once', async (point, context) => {
    const place = lend(context);
    const settled = await creatingDiesAt(place, point, 'echo run');
    expect([settled.state, settled.setup]).toMatchObject(['ready', { state: 'passed' }]);
  });

  it.for(duringSetup)(
    'at %s calls its set-up failed, ends what is left of it and does not run it again',
    async (point, context) => {
      const place = lend(context);
      const settled = await creatingDiesAt(place, point, point.endsWith('going') ? 'echo run; sleep 600' : 'echo run');
      expect([settled.state, settled.setup]).toMatchObject([
        'failed',
        { state: 'failed', reason: expect.stringContaining('the node stopped while it ran') },
      ]);
    },
  );

  it('after its set-up ended knows that it passed', async (context) => {
    const settled = await creatingDiesAt(lend(context), 'environment-setup-ended', 'echo run');
    expect([settled.state, settled.setup]).toMatchObject(['ready', { state: 'passed' }]);
  });
});

const points: readonly (readonly [operation: string, point: string])[] = [
  ['stop', 'environment-place-closed'],
  ['stop', 'environment-stopped'],
  ['fork', 'environment-checkout-made'],
  ['fork', 'environment-files-copied'],
  ['fork', 'environment-place-made'],
  ['fork', 'environment-made'],
  ...(['recreate', 'delete'] as const).flatMap((operation) =>
    ['place-closed', 'work-saved', 'place-removed', 'emptied'].map((name) => [operation, `environment-${name}`] as const),
  ),
];

/** An environment with work in it, and the node dies at the point of an operation; what the next start has then. */
const dieAt = async (place: LentPlace, operation: string, point: string) => {
  const repository = makeRepository(place, place.row, { init: 'echo run >> "$HOME/runs"' });
  const first = await place.up({ killAt: `${point}:${operation}` });
  const before = place.client(first);
  await before.call('projectAdd', { body: { source: repository } });
  const ready = await settledEnvironment(before, (await made(before, repository, place.row)).id);
  writeFileSync(join(ready.workdir ?? '', 'work.txt'), 'work');
  await asked(operations[operation]?.(before, ready) ?? Promise.resolve());
  await died(first, point);
  const life = await place.up();
  return { place, life, client: place.client(life), ready };
};

const savedWork = async (client: Client, id: string): Promise<readonly string[]> => {
  const { items } = await client.call('salvageList', { query: {} });
  const mine = items.filter(({ taskId }) => taskId === id);
  return (await Promise.all(mine.map((saved) => client.call('salvageShow', { params: { id: saved.id } })))).flatMap(
    ({ paths }) => paths,
  );
};

const expected: Readonly<Record<string, (around: Awaited<ReturnType<typeof dieAt>>) => Promise<void>>> = {
  stop: async ({ client, ready }) => {
    const settled = await settledEnvironment(client, ready.id);
    expect([settled.state, readFileSync(join(settled.workdir ?? '', 'work.txt'), 'utf8')]).toEqual(['stopped', 'work']);
  },
  fork: async ({ client, ready }) => {
    const copy = await settledEnvironment(client, `copy-of-${ready.name}`);
    const source = await settledEnvironment(client, ready.id);
    expect([copy.state, source.state, readFileSync(join(copy.workdir ?? '', 'work.txt'), 'utf8')]).toEqual([
      'ready',
      'ready',
      'work',
    ]);
  },
  recreate: async ({ client, ready }) => {
    const settled = await settledEnvironment(client, ready.id);
    expect([settled.state, existsSync(join(settled.workdir ?? '', 'work.txt'))]).toEqual(['ready', false]);
    expect(await savedWork(client, ready.id)).toEqual(['work.txt']);
  },
  delete: async ({ client, ready }) => {
    await settledEnvironment(client, ready.id).catch(() => null);
    expect(await codeOf(client.call('environmentShow', { params: { id: ready.id } }))).toBe('not_found');
    expect(await savedWork(client, ready.id)).toEqual(['work.txt']);
  },
};

describe('a node that dies while an environment that holds work', () => {
  it.for(points)('is to %s, at %s: goes on, and nothing is lost or left', async ([operation, point], context) => {
    const around = await dieAt(lend(context), operation, point);
    await expected[operation]?.(around);
    const { client, place, life } = around;
    for (const { id } of (await client.call('environmentList', { query: {} })).items)
      await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });
});

it('every named point is died at', () => {
  const died = new Set([...beforeSetup, ...duringSetup, 'environment-setup-ended', ...points.map(([, point]) => point)]);
  expect([...environmentKillPoints].filter((point) => !died.has(point))).toEqual([]);
});
