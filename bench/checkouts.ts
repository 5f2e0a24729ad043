import { join } from 'node:path';
import { diskUse } from '../packages/node/src/files/disk-use.ts';
import { openGitNode, type GitNode } from '../packages/node/test/git-node.ts';
import { gitIn, largeRepository } from '../packages/testkit/src/git-shapes.ts';
import { atMostTimes, spreadOf, timed, type Benchmark, type Row } from './benchmark.ts';

const FILES = 20_000;
const AT_ONCE = 20;
/** Clean slots that a project keeps. */
const AGAIN = 4;
const MIB = 1024 * 1024;

type Series = { readonly ms: readonly number[]; readonly lastBytes: number };

/** So many checkouts, all of them there at once. */
const makeSeries = async (count: number, make: (at: number) => Promise<string>): Promise<Series> => {
  const ms: number[] = [];
  let last = '';
  for (let at = 1; at <= count; at++) ms.push(await timed(async () => void (last = await make(at))));
  return { ms, lastBytes: await diskUse(last) };
};

type Round = {
  readonly cold: Series;
  readonly bare: Series;
  readonly warm: readonly number[];
  readonly bareAgain: readonly number[];
};

const runRound = async (node: GitNode, round: number): Promise<Round> => {
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
  const cold = await makeSeries(AT_ONCE, async (at) => {
    const { id, path } = await claim(`tsk_${round}_${at}`);
    ids.push(id);
    return path;
  });
  const bare = await makeSeries(AT_ONCE, (at) => worktree(`w${at}`));
  for (const id of ids.slice(0, AGAIN)) await node.workspace.release(id, { salvage: false, reason: 'the benchmark' });
  await node.workspace.settled();
  const warm: number[] = [];
  const bareAgain: number[] = [];
  for (let at = 0; at < AGAIN; at++) {
    warm.push(await timed(() => claim(`tsk_${round}_again_${at}`)));
    bareAgain.push(await timed(() => worktree(`again${at}`)));
  }
  return { cold, bare, warm, bareAgain };
};

/** Many checkouts of a large repository, against linked worktrees of the user's own. */
export const checkouts: Benchmark = {
  name: 'checkouts',
  title: `${AT_ONCE} checkouts at once of a repository of ${FILES.toLocaleString('en')} files, each with a Git directory of its own`,
  rounds: 1,
  run: async ({ rounds }) => {
    const node = await openGitNode({ warmSlots: AGAIN });
    try {
      const all: Round[] = [];
      for (let round = 0; round < rounds; round++) all.push(await runRound(node, round));
      const row = (
        what: string,
        unit: 'ms' | 'MiB',
        of: (one: Round) => readonly [ours: readonly number[], bare: readonly number[]],
      ): Row => ({
        what,
        unit,
        ours: spreadOf(all.flatMap((one) => of(one)[0])),
        bare: spreadOf(all.flatMap((one) => of(one)[1])),
        against: 'git worktree add',
        goal: null,
      });
      return {
        rows: [
          row('the first', 'ms', ({ cold, bare }) => [cold.ms.slice(0, 1), bare.ms.slice(0, 1)]),
          atMostTimes(
            row('the 16th to the 20th', 'ms', ({ cold, bare }) => [cold.ms.slice(-5), bare.ms.slice(-5)]),
            1,
          ),
          row('one that finds a clean slot', 'ms', ({ warm, bareAgain }) => [warm, bareAgain]),
          row('disk of the 20th', 'MiB', ({ cold, bare }) => [[cold.lastBytes / MIB], [bare.lastBytes / MIB]]),
        ],
        notes: [
          'Objects are borrowed from one mirror; the files of each checkout are its own, as those of a worktree are.',
          'Hard links are not used: an agent that writes would write into the files of others.',
        ],
      };
    } finally {
      await node.close();
    }
  },
};
