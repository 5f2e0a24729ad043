import { mkdirSync } from 'node:fs';
import { OrreryError } from '@orrery/protocol/errors';
import { randomHex, systemRandom } from '../../kernel/random.ts';
import { own } from '../../files/own.ts';
import { stagePath, userCall, type Change, type ChangeTools } from './model.ts';
import { settleChange } from './settle.ts';

/** What is known of a change before it begins. */
type Wanted = Pick<Change, 'projectId' | 'repository' | 'branch' | 'tree' | 'old'>;

/** A change that has begun: as the journal has it now, and the way to its next step. */
type Begun = {
  readonly change: Change;
  /** Resolves when the journal has it. */
  reach(next: Pick<Partial<Change>, 'target' | 'phase'>): Promise<void>;
};

/**
 * Does a change: recorded before anything of it shows, brought to its end however `work` ends. Work that reached `moved` is
 * finished, any other is taken back; the failure of the work is what is rejected with.
 */
export const makeChange = async <T>(tools: ChangeTools, wanted: Wanted, work: (begun: Begun) => Promise<T>): Promise<T> => {
  const { journal, step } = tools;
  let change = await describe(tools, wanted);
  await step();
  await journal.begin(change);
  const begun: Begun = {
    get change() {
      return change;
    },
    reach: async (next) => {
      await step();
      await journal.update(change.id, next);
      change = { ...change, ...next };
    },
  };
  let answer: T;
  try {
    await step();
    mkdirSync(stagePath(change), { mode: 0o700 });
    change = { ...change, stage: own(stagePath(change)) };
    await step();
    await journal.update(change.id, { stage: change.stage });
    await step();
    answer = await work(begun);
  } catch (thrown) {
    await settleChange(tools, change).catch((second: unknown) => {
      throw new OrreryError('git_failed', 'The change in the repository could not be brought to its end.', {
        rule: 'It is recorded, and brought to its end by the next command on this repository or the next start of the node.',
        fix: 'Run the command again.',
        cause: new AggregateError([thrown, second]),
      });
    });
    throw thrown;
  }
  await settleChange(tools, change);
  return answer;
};

const describe = async ({ git }: ChangeTools, wanted: Wanted): Promise<Change> => {
  const answer = await git.text({
    ...userCall(wanted.repository),
    args: ['rev-parse', '--absolute-git-dir', '--path-format=absolute', '--git-common-dir'],
  });
  const [gitDir = '', commonDir = ''] = answer.split('\n');
  return {
    ...{ projectId: wanted.projectId, repository: wanted.repository, branch: wanted.branch, tree: wanted.tree, old: wanted.old },
    id: `change_${randomHex(systemRandom, 10)}`,
    gitDir,
    commonDir,
    target: null,
    phase: 'preparing',
    stage: null,
  };
};
