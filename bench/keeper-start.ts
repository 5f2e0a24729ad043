import { join } from 'node:path';
import { findKeeperBinary } from '../packages/node/src/keeper/binary.ts';
import { createKeeperClient } from '../packages/node/src/keeper/client.ts';
import type { Confinement, KeeperClient } from '../packages/node/src/keeper/types.ts';
import { createStarter } from '../packages/node/src/starter/index.ts';
import { runBare, type Times } from './bare-program.ts';
import { atMostOver, spreadOf, takeTurns, type Benchmark, type Row } from './benchmark.ts';
import { plainSpec, walls } from './keeper-spec.ts';

type Run = Times & { readonly ready: number };

const runKept = async (client: KeeperClient, dir: string, confinement: Confinement | null): Promise<Run> => {
  const spec = { ...plainSpec('/bin/true', []), confinement };
  const from = performance.now();
  const keeper = await client.launch(dir, spec);
  const ready = performance.now() - from;
  await keeper.go();
  const ran = performance.now() - from;
  const { code, reason } = await keeper.wait();
  const ended = performance.now() - from;
  if (code !== 0) throw new Error(`/bin/true ended with ${code}: ${reason}`);
  await keeper.finish();
  keeper.close();
  await client.remove(dir);
  return { ready, ran, ended };
};

/** What a keeper adds to the start of a program. */
export const keeperStart: Benchmark = {
  name: 'keeper-start',
  title: 'a program under a keeper against a bare spawn (/bin/true)',
  rounds: 100,
  run: async ({ directory, rounds }) => {
    const starter = createStarter({ binary: () => findKeeperBinary() });
    const client = createKeeperClient({ binary: findKeeperBinary(), spawner: starter });
    let count = 0;
    const kept = (confinement: Confinement | null) => () => runKept(client, join(directory, `k${count++}`), confinement);
    const fenced = walls(directory);
    const samples = await takeTurns(rounds, {
      bare: () => runBare('/bin/true', [], { detached: true, env: {} }),
      plain: kept(null),
      files: kept({ ...fenced, processes: false, network: 'host' }),
      sandbox: kept(fenced),
    });
    await starter.close();
    const row = (what: string, name: keyof typeof samples, moment: keyof Times): Omit<Row, 'goal'> => ({
      what: `${what}, ${moment === 'ran' ? 'until it runs' : 'until its end is durable'}`,
      unit: 'ms',
      ours: spreadOf(samples[name].map((times) => times[moment])),
      bare: spreadOf(samples.bare.map((times) => times[moment])),
      against: moment === 'ran' ? 'spawn until it runs' : 'spawn until it ended',
    });
    return {
      rows: [
        atMostOver(row('no confinement', 'plain', 'ran'), 3),
        { ...row('no confinement', 'plain', 'ended'), goal: null },
        { ...row('files only', 'files', 'ran'), goal: null },
        atMostOver(row('sandbox (namespaces)', 'sandbox', 'ran'), 6),
        { ...row('sandbox (namespaces)', 'sandbox', 'ended'), goal: null },
      ],
      notes: [
        'Through the client and the starter that the node uses: the directory with spec and environment, the start, `go`, the answer.',
      ],
    };
  },
};
