// What each backend costs beside the bare tool that people would use in its place.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findKeeperBinary } from '../../packages/node/src/keeper/binary.ts';
import { createKeeperClient } from '../../packages/node/src/keeper/client.ts';
import { createLocalTrees } from '../../packages/node/src/keeper/trees.ts';
import { createGit } from '../../packages/node/src/git/run.ts';
import { createStarter } from '../../packages/node/src/starter/index.ts';
import type { Starter } from '../../packages/node/src/starter/index.ts';
import { measureCheckouts } from './checkout.ts';
import type { Checkouts } from './checkout.ts';
import { docker } from './docker.ts';
import { bubblewrap, local, sandbox } from './here.ts';
import { kubernetes } from './kubernetes.ts';
import { createStagingWatch, measureSubject, nothingMeasured } from './rounds.ts';
import type { Measured, Side } from './rounds.ts';
import { ssh } from './ssh.ts';
import type { BareTool, Contender, Ground, Subject } from './subject.ts';
import { CHANGED, TREE_BYTES, copyTree, makeTree } from './tree.ts';
import { spreadOf, type BenchmarkOptions, type Report, type Row } from '../benchmark.ts';
import { timeLimit, type TimeLimit } from '../time-limit.ts';

/** All of it; what is not measured by then is left out and named. */
const WHOLE_MS = 195_000;
/** What ending a server may take before it is left to itself. */
const END_MS = 40_000;
const CHECKOUTS_MS = 15_000;
const MIB = 1024 * 1024;

/** The one that needs most time comes last: what it lacks costs the others nothing. */
const CONTENDERS: readonly Contender[] = [local, sandbox, bubblewrap, ssh, docker, kubernetes];

type Values = { readonly ours: readonly number[]; readonly bare: readonly number[] };

const rowOf = (what: string, unit: Row['unit'], { ours, bare, against }: Values & { readonly against: string }): Row[] =>
  ours.length === 0 || bare.length === 0 ? [] : [{ what, unit, ours: spreadOf(ours), bare: spreadOf(bare), against, goal: null }];

const rateOf = (ms: readonly number[]): number[] => ms.map((one) => TREE_BYTES / 1000 / one);
const mibOf = (bytes: readonly number[]): number[] => bytes.map((one) => one / MIB);

const rowsOf = (name: string, { ours, bare }: Measured, words: BareTool['words']): Row[] => {
  const both = (side: keyof Side, as: (values: readonly number[]) => number[] = (values) => [...values]): Values => ({
    ours: as(ours[side]),
    bare: as(bare[side]),
  });
  return [
    ...rowOf(`${name}: open, until its first program ended`, 'ms', { ...both('open'), against: words.open }),
    ...rowOf(`${name}: exec`, 'ms', { ...both('exec'), against: words.exec }),
    ...rowOf(`${name}: close, nothing changed`, 'ms', { ...both('close'), against: words.close }),
    ...rowOf(`${name}: close, ${CHANGED} files changed`, 'ms', { ...both('closeChanged'), against: words.fetch }),
    ...rowOf(`${name}: staged in`, 'MB/s', { ...both('staged', rateOf), against: words.stage }),
    ...rowOf(`${name}: disk of one`, 'MiB', { ...both('disk', mibOf), against: 'its files there' }),
  ];
};

const checkoutRows = ({ ours, bare }: Checkouts): Row[] => {
  const against = 'git worktree add';
  return [
    ...rowOf('a checkout of it, no clean slot', 'ms', { ours: ours.ms, bare: bare.ms, against }),
    ...rowOf('a checkout of it, no clean slot', 'MB/s', { ours: rateOf(ours.ms), bare: rateOf(bare.ms), against }),
    ...rowOf('disk of that checkout', 'MiB', { ours: mibOf(ours.disk), bare: mibOf(bare.disk), against }),
  ];
};

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Said at once and in the report: a row that is missing must not look like one that never was. */
const aloud = (line: string): string => {
  process.stderr.write(`  ${line}\n`);
  return line;
};

const groundOf = (
  directory: string,
  name: string,
  { starter, ...trees }: Pick<Ground, 'ours' | 'bare'> & { starter: Starter },
) => {
  const watch = createStagingWatch();
  const own = join(directory, name);
  mkdirSync(own);
  const binary = (): string => findKeeperBinary();
  const ground: Ground = {
    directory: own,
    ...trees,
    parts: {
      keeper: createKeeperClient({ binary, spawner: starter }),
      stateDir: join(own, 'state'),
      protectedPaths: [],
      variables: process.env,
      installation: `bench-${process.pid}`,
      keeperProgram: binary,
      trees: createLocalTrees({ binary, spawner: starter }),
      git: createGit({ spawner: starter }),
      spawner: starter,
      atStep: watch.atStep,
    },
  };
  return { ground, staged: watch.take };
};

type Place = { readonly directory: string; readonly rounds: number; readonly trees: Parameters<typeof groundOf>[2] };

const endOf = (name: string, subject: Subject): Promise<string[]> => {
  // An environment that the time ran out for must not be waited for.
  subject.backend.detach?.();
  return timeLimit(END_MS)
    .hold(`the end of ${name}`, subject.close())
    .then(
      () => [],
      (thrown: unknown) => [aloud(reasonOf(thrown))],
    );
};

/** One backend, in its own time. What fails costs its own rows only. */
const measureOne = async (contender: Contender, { directory, rounds, trees }: Place, whole: TimeLimit): Promise<Report> => {
  const { name } = contender;
  const why = whole.left() === 0 ? 'the time of the benchmark is over' : contender.why();
  if (why !== null) return { rows: [], notes: [aloud(`${name}: skipped: ${why}`)] };
  const limit = whole.within(contender.budgetMs);
  const { ground, staged } = groundOf(directory, name, trees);
  const into = nothingMeasured();
  const from = performance.now();
  let subject: Subject | null = null;
  const notes: string[] = [];
  try {
    subject = await contender.make(ground, limit);
    const readyMs = performance.now() - from;
    await measureSubject(subject, ground, { rounds, limit, staged, into });
    notes.push(
      `${name}: ${((performance.now() - from) / 1000).toFixed(0)} s, ${(readyMs / 1000).toFixed(1)} s of them until its server was there.`,
    );
  } catch (thrown) {
    notes.push(aloud(`${name}: stopped: ${reasonOf(thrown)}`));
  }
  if (subject === null) return { rows: [], notes };
  return { rows: rowsOf(name, into, subject.bare.words), notes: [...notes, ...(await endOf(name, subject))] };
};

const measureAll = async (place: Place): Promise<Report> => {
  const whole = timeLimit(WHOLE_MS);
  const rows: Row[] = [];
  const notes: string[] = [];
  try {
    rows.push(...checkoutRows(await measureCheckouts(place.rounds, whole.within(CHECKOUTS_MS))));
  } catch (thrown) {
    notes.push(aloud(`a checkout: stopped: ${reasonOf(thrown)}`));
  }
  for (const contender of CONTENDERS) {
    const found = await measureOne(contender, place, whole);
    rows.push(...found.rows);
    notes.push(...found.notes);
  }
  return { rows, notes };
};

/** Every backend of this machine, and those whose servers can be started on it. */
export const reportBackends = async ({ directory, rounds }: BenchmarkOptions): Promise<Report> => {
  const [ours, bare] = [join(directory, 'ours'), join(directory, 'bare')];
  makeTree(ours);
  copyTree(ours, bare);
  const starter = createStarter({ binary: () => findKeeperBinary() });
  try {
    const { rows, notes } = await measureAll({ directory, rounds, trees: { ours, bare, starter } });
    return {
      rows,
      notes: [
        'Open: with the files in it, and one program (`sh -c true`) run to its end. Exec: the same program in an open one: start, go, end, record settled. Disk: what the node keeps of it here counts too.',
        'The bare tool knows no changes: with some it brings back everything, without it brings back nothing.',
        ...notes,
      ],
    };
  } finally {
    await starter.close();
  }
};
