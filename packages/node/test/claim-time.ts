// Prints what a checkout costs, in milliseconds: node packages/node/test/claim-time.ts [files]
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gitIn, largeRepository, writeFiles } from '@orrery/testkit';
import { openGitNode } from './git-node.ts';

const node = await openGitNode();
const time = async <T>(label: string, work: () => Promise<T> | T): Promise<T> => {
  const start = performance.now();
  const value = await work();
  console.log(`${label.padEnd(28)} ${(performance.now() - start).toFixed(1)} ms`);
  return value;
};
try {
  const { root } = largeRepository(node.folder, Number(process.argv[2] ?? 1000));
  const plain = join(node.folder, 'plain');
  execFileSync('git', ['clone', '-q', '--shared', '--no-checkout', root, plain]);
  await time('plain checkout', () => gitIn(plain, 'checkout', '-q', 'main'));
  const project = await time('add', () => node.projects.add({ source: root }));
  const baseSha = project.headSha ?? '';
  for (const round of [1, 2, 3, 4]) {
    await time('refresh', () => node.projects.refresh(project.id));
    const checkout = await time(`claim ${round === 1 ? 'cold' : 'warm'}`, () =>
      node.workspace.claim({ projectId: project.id, taskId: `tsk_${round}`, baseSha }),
    );
    writeFiles(checkout.path, { 'd0/f1.txt': `changed ${round}\n`, 'new.txt': 'new\n', 'build/x.o': 'x' });
    if (round % 2 === 0) gitIn(checkout.path, 'add', '-A');
    if (round % 2 === 0) gitIn(checkout.path, 'commit', '-q', '-m', 'work');
    await time('collect', () => node.workspace.collect(checkout.id, { attempt: 1 }));
    await time('release', () => node.workspace.release(checkout.id, { salvage: true, reason: 'bench' }));
    await time('scrub (background)', () => node.workspace.settled());
  }
} finally {
  await node.close();
}
