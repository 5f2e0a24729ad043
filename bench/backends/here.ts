// The backends of this machine: nothing is brought anywhere, and the bare tool has nothing that it closes.
import { spawnSync } from 'node:child_process';
import type { BackendFactory } from '../../packages/node/src/exec/backend.ts';
import { bubblewrapFactory } from '../../packages/node/src/exec/bubblewrap/index.ts';
import type { KeeperBackendParts } from '../../packages/node/src/exec/keeper-backend.ts';
import { localFactory } from '../../packages/node/src/exec/local/index.ts';
import { sandboxFactory } from '../../packages/node/src/exec/sandbox/index.ts';
import { diskUse } from '../../packages/node/src/files/disk-use.ts';
import { bareCommand, whyMissing } from './bare-command.ts';
import type { BareSession, BareTool, Contender } from './subject.ts';
import { NOTHING } from './tree.ts';

const BUDGET_MS = 15_000;

/** What a person would write who wants these walls for one program. */
const bwrapLine = (tree: string): readonly string[] => [
  ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', tree, tree],
  ...['--unshare-all', '--die-with-parent', '--chdir', tree],
];

const toolOf = (name: string, tree: string, line: readonly string[]): BareTool => {
  const run = async (...argv: readonly string[]): Promise<void> => void (await bareCommand([...line, ...argv]));
  const session: BareSession = {
    stagedMs: null,
    exec: () => run(...NOTHING),
    change: (script) => run('sh', '-ec', `cd "$1"; ${script}`, 'sh', tree),
    diskBytes: () => diskUse(tree),
    // It has none: one more run is what its row stands beside.
    close: () => run(...NOTHING),
  };
  return {
    words: { open: name, exec: name, close: `${name} (it closes nothing)`, fetch: `${name} (it closes nothing)`, stage: '' },
    open: () => Promise.resolve(session),
  };
};

type Here = {
  readonly factory: (parts: KeeperBackendParts) => BackendFactory;
  readonly tool: 'spawn' | 'bwrap';
  readonly why: () => string | null;
};

const here = (name: string, { factory, tool, why }: Here): Contender => ({
  name,
  budgetMs: BUDGET_MS,
  why,
  make: ({ bare, ours, parts }) =>
    Promise.resolve({
      backend: factory(parts).make({}),
      bare: toolOf(tool, bare, tool === 'bwrap' ? bwrapLine(bare) : []),
      diskBytes: () => diskUse(ours),
      close: () => Promise.resolve(),
    }),
});

/** Whether bwrap works, not only whether it is there: some machines allow it nothing. */
const whyNoBwrap = (): string | null => {
  const missing = whyMissing('bubblewrap', 'bwrap');
  if (missing !== null) return missing;
  const [command = '', ...args] = bwrapLine('/tmp');
  const { status, stderr } = spawnSync(command, [...args, 'true'], { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? null : `bwrap cannot run a program here: ${stderr.trim()}`;
};

export const local = here('local', { factory: localFactory, tool: 'spawn', why: () => null });
export const sandbox = here('sandbox', { factory: sandboxFactory, tool: 'bwrap', why: whyNoBwrap });
export const bubblewrap = here('bubblewrap', { factory: bubblewrapFactory, tool: 'bwrap', why: whyNoBwrap });
