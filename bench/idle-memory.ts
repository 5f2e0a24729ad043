import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf, takeTurns, within, type Benchmark } from './benchmark.ts';
import { memoryOf, type Memory } from './process-memory.ts';
import { cancelAll, endKeepers, keepersBelow, startNode, startWaiting } from './real-node.ts';

const SETTLE_MS = 3_000;
const PROGRAMS = 20;

const idleBare = async (): Promise<Memory> => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore', env: {} });
  try {
    await sleep(1_000);
    return memoryOf(child.pid!);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
};

const idleNode = async (directory: string): Promise<Memory> => {
  const node = await startNode({ directory });
  try {
    await sleep(SETTLE_MS);
    return memoryOf(node.pid);
  } finally {
    await node.stop();
  }
};

type PerProgram = { readonly keeper: Memory; readonly node: number };

/** What one more running program costs: its keeper, and what the node holds for it. */
const perProgram = async (directory: string): Promise<PerProgram> => {
  const node = await startNode({ directory, config: { queue: { parallel: PROGRAMS } } });
  try {
    const first = await startWaiting(node, 1, { backend: 'local' });
    await sleep(1_000);
    const before = memoryOf(node.pid).rss;
    const others = await startWaiting(node, PROGRAMS - 1, { backend: 'local' });
    await sleep(SETTLE_MS);
    const after = memoryOf(node.pid).rss;
    const keepers = keepersBelow(directory).map(memoryOf);
    await cancelAll(node, [...first, ...others]);
    const mean = (of: (memory: Memory) => number): number => keepers.reduce((sum, one) => sum + of(one), 0) / keepers.length;
    return { keeper: { rss: mean(({ rss }) => rss), pss: mean(({ pss }) => pss) }, node: (after - before) / (PROGRAMS - 1) };
  } finally {
    await node.stop();
    endKeepers(directory);
  }
};

/** What a node costs that has nothing to do, and what each running program adds. */
export const idleMemory: Benchmark = {
  name: 'idle-memory',
  title: 'memory of a node with nothing to do against a bare Node',
  rounds: 5,
  run: async ({ directory, rounds }) => {
    const { bare, node } = await takeTurns(rounds, { bare: idleBare, node: () => idleNode(directory) });
    const place = join(directory, 'p');
    mkdirSync(place);
    const { keeper, node: more } = await perProgram(place);
    const of = (samples: readonly Memory[], name: keyof Memory) => spreadOf(samples.map((memory) => memory[name]));
    const row = (what: string, name: keyof Memory) =>
      ({ what, unit: 'MiB', ours: of(node, name), bare: of(bare, name), against: 'node -e, idle' }) as const;
    return {
      rows: [within(row('resident', 'rss'), { below: 150 }), { ...row('shared pages by their part', 'pss'), goal: null }],
      notes: [
        `Beside it, each running program: its keeper ${keeper.rss.toFixed(1)} MiB resident, ${keeper.pss.toFixed(1)} MiB by its part; ` +
          `in the node ${more.toFixed(2)} MiB (mean of ${PROGRAMS}, with what starting them left behind).`,
      ],
    };
  },
};
