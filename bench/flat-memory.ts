import type { IncomingMessage } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../packages/node/src/kernel/clock.ts';
import { createLog } from '../packages/node/src/kernel/log.ts';
import { openStore } from '../packages/node/src/store/sqlite/open-store.ts';
import { spreadOf, type Benchmark } from './benchmark.ts';
import { memoryOf, peakOf } from './process-memory.ts';
import { commandTask, endKeepers, startNode, untilEvent, type RealNode } from './real-node.ts';

const OUTPUT_MB = 50;
const EVENTS = 20_000;
const READERS = 50;

type Growth = { readonly before: number; readonly peak: number; readonly after: number };

/** Resident memory of the node before, at most during, and some time after a work. */
const growth = async (node: RealNode, work: () => Promise<void>): Promise<Growth> => {
  const before = memoryOf(node.pid).rss;
  await work();
  const peak = peakOf(node.pid);
  await sleep(3_000);
  return { before, peak, after: memoryOf(node.pid).rss };
};

const withNode = async (directory: string, work: (node: RealNode) => Promise<void>): Promise<Growth> => {
  // The first start of an installation fills the compile cache, which costs memory of its own.
  await (await startNode({ directory })).stop();
  const node = await startNode({ directory });
  try {
    return await growth(node, () => work(node));
  } finally {
    await node.stop();
    endKeepers(directory);
  }
};

const runTask =
  (script: string) =>
  async (node: RealNode): Promise<void> => {
    const { id } = await node.client.call('taskAdd', { body: commandTask(['sh', '-c', script], { backend: 'local' }) });
    const { body } = await untilEvent(node.client, id, (event) => event.body.kind === 'task.ended');
    if (body.kind !== 'task.ended' || body.verdict !== 'accepted')
      throw new Error(`the task was not accepted: ${JSON.stringify(body)}`);
  };

/** A database with many events, as a busy node leaves it. */
const writeEvents = async (directory: string): Promise<void> => {
  // The node makes its own directories and tables first.
  await (await startNode({ directory })).stop();
  const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
  const store = await openStore({ file: join(directory, 'data', 'orrery.db'), clock: systemClock, log });
  const text = 'x'.repeat(600);
  for (let first = 0; first < EVENTS; first += 500)
    await store.append(
      Array.from({ length: 500 }, (_, at) => ({
        taskId: null,
        turn: null,
        body: { kind: 'notice', level: 'info', text: `${first + at} ${text}` } as const,
      })),
    );
  await store.close();
};

/** Reads a stream until so many events came. */
const readStream = async (stream: AsyncIterable<string>): Promise<void> => {
  let events = 0;
  let tail = '';
  for await (const piece of stream) {
    const text = tail + piece;
    events += text.split('"kind":"notice"').length - 1;
    tail = text.slice(-14);
    if (events >= EVENTS) return;
  }
  throw new Error(`the stream ended after ${events} events`);
};

const readAll = async (node: RealNode): Promise<void> => {
  const streams: IncomingMessage[] = [];
  while (streams.length < READERS) streams.push(await node.stream('/api/v1/events?after=0'));
  await Promise.all(streams.map(readStream));
};

/** Whether the memory of a node stays flat when a lot goes through it. */
export const flatMemory: Benchmark = {
  name: 'flat-memory',
  title: 'memory of a node through which a lot goes, against the same node before',
  rounds: 3,
  run: async ({ directory, rounds }) => {
    const streams = join(directory, 'e');
    mkdirSync(streams);
    await writeEvents(streams);
    const found: Record<'small' | 'output' | 'events', Growth[]> = { small: [], output: [], events: [] };
    for (let round = 0; round < rounds; round++) {
      const own = (name: string): string => {
        const path = join(directory, `${name}${round}`);
        mkdirSync(path);
        return path;
      };
      found.small.push(await withNode(own('s'), runTask('echo small')));
      found.output.push(await withNode(own('o'), runTask(`yes ${'y'.repeat(99)} | head -c ${OUTPUT_MB}000000`)));
      found.events.push(await withNode(streams, readAll));
    }
    const rows = (what: string, samples: readonly Growth[]) =>
      (['peak', 'after'] as const).map((moment) => ({
        what: `${what}, ${moment === 'peak' ? 'at most' : '3 s later'}`,
        unit: 'MiB' as const,
        ours: spreadOf(samples.map((growth) => growth[moment])),
        bare: spreadOf(samples.map(({ before }) => before)),
        against: 'just before',
        goal: null,
      }));
    return {
      rows: [
        ...rows('a task with one line of output', found.small),
        ...rows(`a task with ${OUTPUT_MB} MB of output`, found.output),
        ...rows(`${READERS} readers of ${EVENTS.toLocaleString('en')} events`, found.events),
      ],
      notes: [],
    };
  },
};
