import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { findKeeperBinary } from '../packages/node/src/keeper/binary.ts';
import { createKeeperClient } from '../packages/node/src/keeper/client.ts';
import type { KeeperClient, OutputChunk } from '../packages/node/src/keeper/types.ts';
import { runBare } from './bare-program.ts';
import { spreadOf, takeTurns, within, type Benchmark } from './benchmark.ts';
import { plainSpec } from './keeper-spec.ts';

const BYTES = 256 * 2 ** 20;
const LINE = 200;

/** Lines that are all different, so that a piece that is lost, doubled or moved changes the hash. */
const writeSource = async (path: string): Promise<void> => {
  const file = createWriteStream(path);
  const perPiece = 5_000;
  for (let first = 0; first * LINE < BYTES; first += perPiece) {
    const lines = Array.from({ length: perPiece }, (_, at) => `${first + at}:`.padEnd(LINE - 1, 'abcdefghij'));
    if (!file.write(`${lines.join('\n')}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
};

type Read = { readonly bytes: number; readonly seconds: number };

const drain = async (source: AsyncIterable<Uint8Array>): Promise<Read> => {
  const from = performance.now();
  let bytes = 0;
  for await (const piece of source) bytes += piece.length;
  return { bytes, seconds: (performance.now() - from) / 1000 };
};

const hashOf = async (source: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of source) hash.update(piece);
  return hash.digest('hex');
};

async function* bytesOf(chunks: AsyncIterable<OutputChunk>): AsyncGenerator<Uint8Array> {
  let next = 0;
  for await (const { offset, bytes } of chunks) {
    if (offset !== next) throw new Error(`output jumped from byte ${next} to ${offset}`);
    next += bytes.length;
    yield bytes;
  }
}

const rate = ({ bytes, seconds }: Read): number => bytes / 1e6 / seconds;

type Sample = {
  /** While the program ran: what it was held up by. */
  readonly spool: number;
  /** Until its output and its end were on the disk. */
  readonly durable: number;
  readonly live: number;
  readonly files: number;
};

/** The program writes all it has into the spool, then the client reads it back, over the socket and from the file. */
const throughKeeper = async (
  client: KeeperClient,
  dir: string,
  source: { readonly path: string; readonly sha: string },
): Promise<Sample> => {
  const spec = plainSpec('cat', [source.path]);
  const keeper = await client.launch(dir, { ...spec, limits: { ...spec.limits, spoolWindowBytes: 2 * BYTES } });
  const from = performance.now();
  await keeper.go();
  const { stdoutBytes, reason, startedAtMs, endedAtMs } = await keeper.wait();
  const durable = { bytes: stdoutBytes, seconds: (performance.now() - from) / 1000 };
  const spooled = { bytes: stdoutBytes, seconds: (endedAtMs - (startedAtMs ?? endedAtMs)) / 1000 };
  const sha = await hashOf(bytesOf(keeper.output('stdout', 0)));
  if (sha !== source.sha) throw new Error(`the spool does not hold what the program wrote (${stdoutBytes} bytes, ${reason})`);
  const live = await drain(bytesOf(keeper.output('stdout', 0)));
  const files = await drain(bytesOf(client.readSpool(dir, 'stdout', 0)));
  await keeper.finish();
  keeper.close();
  await client.remove(dir);
  return { spool: rate(spooled), durable: rate(durable), live: rate(live), files: rate(files) };
};

/** The program and the reader at once, each piece released as it was read: what a chatty agent is. */
const throughBoth = async (client: KeeperClient, dir: string, source: { readonly path: string }): Promise<number> => {
  const keeper = await client.launch(dir, plainSpec('cat', [source.path]));
  const from = performance.now();
  await keeper.go();
  let bytes = 0;
  let released = 0;
  for await (const chunk of keeper.output('stdout', 0)) {
    bytes += chunk.bytes.length;
    if (bytes - released < 4 * 2 ** 20) continue;
    released = bytes;
    await keeper.release('stdout', released);
  }
  const read = { bytes, seconds: (performance.now() - from) / 1000 };
  const { stdoutBytes } = await keeper.wait();
  if (stdoutBytes !== bytes) throw new Error(`${stdoutBytes} bytes were written and ${bytes} read`);
  await keeper.finish();
  keeper.close();
  await client.remove(dir);
  return rate(read);
};

const intoFile = async (source: string, target: string, script: string): Promise<number> => {
  try {
    // A pipe lies between, as with a keeper: a program that copies from file to file does not write at all.
    const { ended } = await runBare('sh', ['-c', script, 'sh', source, target]);
    return BYTES / 1e6 / (ended / 1000);
  } finally {
    rmSync(target);
  }
};

/** How fast output gets into the spool, and from there to the node. */
export const spoolThroughput: Benchmark = {
  name: 'spool-throughput',
  title: 'output of a program (200-byte lines, 268 MB, compared by hash) through its keeper',
  rounds: 5,
  run: async ({ directory, rounds }) => {
    const path = join(directory, 'source');
    await writeSource(path);
    const source = { path, sha: await hashOf(createReadStream(path)) };
    const client = createKeeperClient({ binary: findKeeperBinary() });
    let count = 0;
    const { bare, synced, kept, both, stream } = await takeTurns(rounds, {
      bare: () => intoFile(path, join(directory, 'copy'), 'cat "$1" | cat > "$2"'),
      synced: () => intoFile(path, join(directory, 'copy'), 'cat "$1" | cat > "$2" && sync -d "$2"'),
      kept: () => throughKeeper(client, join(directory, `k${count++}`), source),
      both: () => throughBoth(client, join(directory, `k${count++}`), source),
      stream: async () => rate(await drain(createReadStream(path))),
    });
    const keptBy = (name: keyof Sample) => spreadOf(kept.map((sample) => sample[name]));
    const copied = { unit: 'MB/s', bare: spreadOf(bare), against: 'cat | cat > file' } as const;
    const streamed = { unit: 'MB/s', bare: spreadOf(stream), against: 'createReadStream', goal: null } as const;
    return {
      rows: [
        within({ ...copied, what: 'into the spool', ours: keptBy('spool') }, { least: 500 }),
        {
          what: 'into the spool, until output and end are durable',
          unit: 'MB/s',
          ours: keptBy('durable'),
          bare: spreadOf(synced),
          against: 'cat | cat > file, sync',
          goal: null,
        },
        { ...copied, what: 'into the spool and read over the socket, at once', ours: spreadOf(both), goal: null },
        { ...streamed, what: 'read over the socket', ours: keptBy('live') },
        { ...streamed, what: 'read from the files of a keeper', ours: keptBy('files') },
      ],
      notes: [],
    };
  },
};
