import { join } from 'node:path';
import { diskUse } from '../packages/node/src/files/disk-use.ts';
import { openGitNode, type GitNode } from '../packages/node/test/git-node.ts';
import { gitIn, largeRepository } from '../packages/testkit/src/git-shapes.ts';
import { atMostTimes, spreadOf, timed, type Benchmark, type Row } from './benchmark.ts';
import { timeLimit, type TimeLimit } from './time-limit.ts';

const FILES = 20_000;
const AT_ONCE = 20;
/** Clean slots that a project keeps. */
const AGAIN = 4;
/** The last of them that are taken together. */
const LAST = 5;
/** For all checkouts of all rounds; those that are not there by then are not made. */
const ALL_MS = 120_000;
const MIB = 1024 * 1024;

/** Milliseconds of each, and bytes of the last. */
type Series = { readonly ms: readonly number[]; readonly lastBytes: number };

type Round = {
  readonly cold: Series;
  readonly bare: Series;
  readonly warm: readonly number[];
  readonly bareAgain: readonly number[];
};

type Both = { readonly ours: (at: number) => Promise<string>; readonly bare: (at: number) => Promise<string> };

/** Checkouts of both sides in turns, all of them there at once; fewer when the time is over, but one of each at least. */
const makeBoth = async ({ ours, bare }: Both, limit: TimeLimit): Promise<Pick<Round, 'cold' | 'bare'>> => {
  const [oursMs, bareMs]: [number[], number[]] = [[], []];
  let last = { ours: '', bare: '' };
  for (let at = 1; at <= AT_ONCE && (at === 1 || limit.left() > 0); at++) {
    const made = { ours: '', bare: '' };
    oursMs.push(await timed(async () => void (made.ours = await ours(at))));
    bareMs.push(await timed(async () => void (made.bare = await bare(at))));
    last = made;
  }
  return {
    cold: { ms: oursMs, lastBytes: await diskUse(last.ours) },
    bare: { ms: bareMs, lastBytes: await diskUse(last.bare) },
  };
};

const runRound = async (node: GitNode, round: number, limit: TimeLimit): Promise<Round> => {
  const { root } = largeRepository(join(node.folder, `r${round}`), FILES);
  // One pack, as after a clone: reading 20,000 single objects is another matter.
  gitIn(root, 'gc', '-q');
  const { id: projectId, headSha } = await node.projects.add({ source: root, name: `large-${round}` });
  const claim = async (taskId: string) => node.workspace.claim({ projectId, taskId, baseSha: headSha ?? '' });
  const worktree = async (name: string): Promise<string> => {
    const path = join(node.folder, `r${round}`, name);
    gitIn(root, 'worktree', 'add', '-q', '--detach', path, 'HEAD');
    return path;
  };
  const ids: string[] = [];
  const ours = async (at: number): Promise<string> => {
    const { id, path } = await claim(`tsk_${round}_${at}`);
    ids.push(id);
    return path;
  };
  const { cold, bare } = await makeBoth({ ours, bare: (at) => worktree(`w${at}`) }, limit);
  const again = ids.slice(0, AGAIN);
  for (const id of again) await node.workspace.release(id, { salvage: false, reason: 'the benchmark' });
  await node.workspace.settled();
  const warm: number[] = [];
  const bareAgain: number[] = [];
  for (const at of again.keys()) {
    warm.push(await timed(() => claim(`tsk_${round}_again_${at}`)));
    bareAgain.push(await timed(() => worktree(`again${at}`)));
  }
  return { cold, bare, warm, bareAgain };
};

const rowOf = (
  all: readonly Round[],
  [what, unit]: readonly [string, 'ms' | 'MiB'],
  of: (one: Round) => readonly [ours: readonly number[], bare: readonly number[]],
): Row => ({
  what,
  unit,
  ours: spreadOf(all.flatMap((one) => of(one)[0])),
  bare: spreadOf(all.flatMap((one) => of(one)[1])),
  against: 'git worktree add',
  goal: null,
});

/** A row says which of the checkouts it is made of: with too little time they are fewer, and no goal is judged. */
const rowsOf = (all: readonly Round[], made: number): Row[] => {
  const last = rowOf(all, [`the last ${Math.min(LAST, made)} of ${made}`, 'ms'], ({ cold, bare }) => [
    cold.ms.slice(-LAST),
    bare.ms.slice(-LAST),
  ]);
  return [
    rowOf(all, ['the first', 'ms'], ({ cold, bare }) => [cold.ms.slice(0, 1), bare.ms.slice(0, 1)]),
    made === AT_ONCE ? atMostTimes(last, 1) : last,
    rowOf(all, ['one that finds a clean slot', 'ms'], ({ warm, bareAgain }) => [warm, bareAgain]),
    rowOf(all, [`disk of number ${made}`, 'MiB'], ({ cold, bare }) => [[cold.lastBytes / MIB], [bare.lastBytes / MIB]]),
  ];
};

const measure = async (node: GitNode, rounds: number) => {
  const limit = timeLimit(ALL_MS);
  const all: Round[] = [];
  for (let round = 0; round < rounds && (round === 0 || limit.left() > 0); round++) all.push(await runRound(node, round, limit));
  const made = Math.min(...all.map(({ cold }) => cold.ms.length));
  const short = made < AT_ONCE || all.length < rounds;
  const over = `Stopped after ${ALL_MS / 1000} s: ${made} of ${AT_ONCE} checkouts, ${all.length} of ${rounds} rounds.`;
  if (short) process.stderr.write(`  ${over}\n`);
  return { rows: rowsOf(all, made), notes: short ? [over] : [] };
};

/** Many checkouts of a large repository, against linked worktrees of the user's own. */
export const checkouts: Benchmark = {
  name: 'checkouts',
  title: `${AT_ONCE} checkouts at once of a repository of ${FILES.toLocaleString('en')} files, each with a Git directory of its own`,
  rounds: 1,
  run: async ({ rounds }) => {
    const node = await openGitNode({ warmSlots: AGAIN });
    try {
      const { rows, notes } = await measure(node, rounds);
      return {
        rows,
        notes: [
          ...notes,
          'Objects are borrowed from one mirror; the files of each checkout are its own, as those of a worktree are.',
          'Hard links are not used: an agent that writes would write into the files of others.',
        ],
      };
    } finally {
      await node.close();
    }
  },
};
