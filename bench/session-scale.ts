import type { IncomingMessage } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { talkerOf } from '../e2e/support/talker.ts';
import { atMostOver, spreadOf, timed, within, type Benchmark, type Row } from './benchmark.ts';
import { memoryOf, peakOf } from './process-memory.ts';
import { endKeepers, startNode, type RealNode } from './real-node.ts';
import { makeRepository, talk } from './talking.ts';

const SESSIONS = 200;
const EVENTS = 10_000;
const READERS = 500;
/** Sessions that are waited for at once: a token has a bound of requests a second. */
const LANES = 20;

const talkMany = async (node: RealNode, project: string): Promise<string[]> => {
  const ids: string[] = [];
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun++ < SESSIONS) ids.push(await talk(node, project, 'talker'));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return ids;
};

const lastPage = (node: RealNode, id: string): Promise<unknown> =>
  node.client.call('sessionRows', { params: { id }, query: { limit: 100 } });

/** How long the last page takes, of each session once after one that is not counted. */
const lastPages = async (node: RealNode, ids: readonly string[]): Promise<number[]> => {
  await lastPage(node, ids[0]!);
  const taken: number[] = [];
  for (const id of ids) {
    taken.push(await timed(() => lastPage(node, id)));
    await sleep(10);
  }
  return taken;
};

/** Reads on until a turn's end came. */
const untilTurnEnded = async (stream: AsyncIterable<string>): Promise<void> => {
  let tail = '';
  for await (const piece of stream) {
    const text = tail + piece;
    if (text.includes('"kind":"turn.ended"')) return;
    tail = text.slice(-30);
  }
  throw new Error('a stream ended before its turn');
};

/** A turn of a session that so many follow, from its request until the last of them has its end, ms. */
const followed = async ({ node }: Scene, id: string, readers: number): Promise<number> => {
  const { sequence } = await node.client.call('sessionRows', { params: { id }, query: { limit: 1 } });
  const streams: IncomingMessage[] = [];
  while (streams.length < readers) streams.push(await node.stream(`/api/v1/sessions/${id}/events?after=${sequence}`));
  const from = performance.now();
  const ends = Promise.all(streams.map(untilTurnEnded));
  await node.client.call('turnAdd', { params: { id }, body: { text: 'Again.' } });
  await ends;
  const took = performance.now() - from;
  for (const stream of streams) stream.destroy();
  return took;
};

/** The node that is measured, and a repository. */
type Scene = { readonly node: RealNode; readonly project: string };

type Found = { readonly rows: Row[]; readonly notes: string[] };

/** What many sessions cost in memory, and how long the last page of each takes. */
const sessions = async ({ node, project }: Scene, small: string): Promise<Found> => {
  await talk(node, project, 'talker');
  await sleep(3_000);
  const memory = { unit: 'MiB', bare: spreadOf([memoryOf(node.pid).rss]), against: 'after one of them' } as const;
  let ids: string[] = [];
  const took = await timed(async () => void (ids = await talkMany(node, project)));
  const peak = peakOf(node.pid);
  await sleep(3_000);
  const after = memoryOf(node.pid).rss;
  const pages = await lastPages(node, ids);
  const bare = await lastPages(
    node,
    ids.map(() => small),
  );
  const many = `${SESSIONS} sessions of ${EVENTS.toLocaleString('en')} events`;
  const page = { ours: spreadOf(pages), bare: spreadOf(bare), against: 'of a transcript with one row' };
  const rate = Math.round((SESSIONS * EVENTS * 1000) / took).toLocaleString('en');
  return {
    rows: [
      atMostOver({ what: `${many}, at most`, ours: spreadOf([peak]), ...memory }, 100),
      atMostOver({ what: 'the same, 3 s later', ours: spreadOf([after]), ...memory }, 100),
      within({ what: 'the last 100 rows of each of their transcripts', unit: 'ms', ...page }, { below: 50 }),
    ],
    notes: [
      `${rate} events a second were said by programs, read, stored and indexed for search.`,
      `The slowest last page took ${Math.max(...pages).toFixed(1)} ms.`,
    ],
  };
};

/** What many readers of one session cost. */
const readers = async (scene: Scene, small: string): Promise<readonly Row[]> => {
  const { pid } = scene.node;
  const one = await followed(scene, small, 1);
  const alone = memoryOf(pid).rss;
  const many = await followed(scene, small, READERS);
  await sleep(3_000);
  const ours = spreadOf([memoryOf(pid).rss]);
  const last = { ours: spreadOf([many]), bare: spreadOf([one]), against: 'until one reader has it' };
  return [
    { what: `a turn until the last of ${READERS} readers has its end`, unit: 'ms', ...last, goal: null },
    {
      what: `memory with ${READERS} readers, 3 s later`,
      unit: 'MiB',
      ours,
      bare: spreadOf([alone]),
      against: 'just before',
      goal: null,
    },
  ];
};

const measure = async (scene: Scene): Promise<Found> => {
  const small = await talk(scene.node, scene.project, 'brief');
  const { rows, notes } = await sessions(scene, small);
  return { rows: [...rows, ...(await readers(scene, small))], notes };
};

/** Whether many long sessions cost a node memory, and whoever opens one of them time. */
export const sessionScale: Benchmark = {
  name: 'session-scale',
  title: `${SESSIONS} sessions of ${EVENTS.toLocaleString('en')} events, and ${READERS} readers of one`,
  rounds: 1,
  run: async ({ directory }) => {
    const project = makeRepository(directory);
    const config = { harnesses: { ...talkerOf(directory, EVENTS), ...briefOf(directory) } };
    // The first start of an installation fills the compile cache, which costs memory of its own.
    await (await startNode({ directory, config })).stop();
    const node = await startNode({ directory, config });
    try {
      await node.client.call('projectAdd', { body: { source: project } });
      return await measure({ node, project });
    } finally {
      await node.stop();
      endKeepers(directory);
    }
  },
};

/** The same program, that says one line. */
const briefOf = (directory: string): object => {
  const own = join(directory, 'brief');
  mkdirSync(own);
  return { brief: Object.values(talkerOf(own, 1))[0] };
};
