import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { spreadOf, within, type Benchmark } from './benchmark.ts';
import { cancelAll, endKeepers, startNode, startWaiting, type RealNode } from './real-node.ts';

const PROGRAMS = 100;
const config = { queue: { parallel: PROGRAMS, perProject: PROGRAMS } };

/** What the node itself said about its start. */
const recoveredEvent = async (node: RealNode) => {
  const reading = new AbortController();
  let last: { readonly reattached: number; readonly tookMs: number } | null = null;
  const { seq } = (await node.client.call('snapshot')) as { seq: number };
  for await (const { body, seq: at } of node.client.events({ after: 0, signal: reading.signal })) {
    if (body.kind === 'node.recovered') last = body;
    if (at >= seq) reading.abort();
  }
  if (last === null) throw new Error('the node did not say what it recovered');
  return last;
};

type Sample = { readonly tookMs: number; readonly readyMs: number };

const restart = async (directory: string, backend: string): Promise<Sample> => {
  mkdirSync(directory);
  let node = await startNode({ directory, config });
  try {
    const ids = await startWaiting(node, PROGRAMS, { backend });
    await node.kill();
    node = await startNode({ directory, config });
    const { reattached, tookMs } = await recoveredEvent(node);
    if (reattached !== PROGRAMS) throw new Error(`${reattached} of ${PROGRAMS} programs were found again`);
    const sample = { tookMs, readyMs: node.readyMs };
    await cancelAll(node, ids);
    return sample;
  } finally {
    await node.stop();
    endKeepers(directory);
  }
};

const emptyRestart = async (directory: string): Promise<Sample> => {
  mkdirSync(directory, { recursive: true });
  const node = await startNode({ directory, config });
  try {
    return { tookMs: (await recoveredEvent(node)).tookMs, readyMs: node.readyMs };
  } finally {
    await node.stop();
  }
};

/** How soon a node that was killed knows again what runs. */
export const recovery: Benchmark = {
  name: 'recovery',
  title: `${PROGRAMS} running programs, the node killed and started again`,
  rounds: 3,
  run: async ({ directory, rounds }) => {
    const local: Sample[] = [];
    const sandbox: Sample[] = [];
    const empty: Sample[] = [];
    const plain = join(directory, 'e');
    await emptyRestart(plain);
    for (let round = 0; round < rounds; round++) {
      local.push(await restart(join(directory, `l${round}`), 'local'));
      sandbox.push(await restart(join(directory, `s${round}`), 'sandbox'));
      empty.push(await emptyRestart(plain));
    }
    const row = (what: string, samples: readonly Sample[], name: keyof Sample) =>
      ({
        what: `${what}, ${name === 'tookMs' ? 'until all are known' : 'from its start until it serves'}`,
        unit: 'ms',
        ours: spreadOf(samples.map((sample) => sample[name])),
        bare: spreadOf(empty.map(({ readyMs }) => readyMs)),
        against: 'the start of a node without tasks',
      }) as const;
    return {
      rows: [
        within(row('local', local, 'tookMs'), { below: 2_000 }),
        { ...row('local', local, 'readyMs'), goal: null },
        within(row('sandbox', sandbox, 'tookMs'), { below: 2_000 }),
        { ...row('sandbox', sandbox, 'readyMs'), goal: null },
      ],
      notes: [`All ${PROGRAMS} were running when the node was killed, and all were found again in every round.`],
    };
  },
};
