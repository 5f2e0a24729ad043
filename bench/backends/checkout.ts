import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { diskUse } from '../../packages/node/src/files/disk-use.ts';
import { openGitNode } from '../../packages/node/test/git-node.ts';
import { commitAll, gitIn } from '../../packages/testkit/src/git-shapes.ts';
import { timed } from '../benchmark.ts';
import type { TimeLimit } from '../time-limit.ts';
import { makeTree } from './tree.ts';

/** Milliseconds and bytes of the disk, of each side. */
export type Checkouts = {
  readonly ours: { readonly ms: number[]; readonly disk: number[] };
  readonly bare: { readonly ms: number[]; readonly disk: number[] };
};

/** Makes the checkout of a task and a worktree in turns, none of them kept; the first of each is not counted. */
export const measureCheckouts = async (rounds: number, limit: TimeLimit): Promise<Checkouts> => {
  const found: Checkouts = { ours: { ms: [], disk: [] }, bare: { ms: [], disk: [] } };
  const node = await openGitNode({ warmSlots: 0 });
  try {
    const root = join(node.folder, 'repository');
    gitIn(node.folder, 'init', '-q', '--initial-branch=main', root);
    makeTree(root);
    commitAll(root, 'first');
    gitIn(root, 'gc', '-q');
    const { id: projectId, headSha } = await node.projects.add({ source: root, name: 'measured' });
    for (let round = 0; round <= rounds && limit.left() > 0; round++) {
      let path = '';
      let id = '';
      const claim = async (): Promise<void> =>
        void ({ id, path } = await node.workspace.claim({ projectId, taskId: `tsk_${round}`, baseSha: headSha ?? '' }));
      const ours = await limit.hold('a checkout', timed(claim));
      const worktree = join(node.folder, `w${round}`);
      const bare = await timed(async () => gitIn(root, 'worktree', 'add', '-q', '--detach', worktree, 'HEAD'));
      if (round > 0) {
        found.ours.ms.push(ours);
        found.ours.disk.push(await diskUse(path));
        found.bare.ms.push(bare);
        found.bare.disk.push(await diskUse(worktree));
      }
      rmSync(worktree, { recursive: true });
      await node.workspace.release(id, { salvage: false, reason: 'the benchmark' });
      await node.workspace.settled();
    }
    return found;
  } finally {
    await node.close();
  }
};
