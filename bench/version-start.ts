import { join } from 'node:path';
import { runBare } from './bare-program.ts';
import { spreadOf, takeTurns, within, type Benchmark } from './benchmark.ts';

const root = join(import.meta.dirname, '..');

/** How long the command line takes to say its version. */
export const versionStart: Benchmark = {
  name: 'version-start',
  title: '`bin/orrery --version` against a bare Node',
  rounds: 40,
  run: async ({ directory, rounds }) => {
    const env = { PATH: process.env['PATH'], HOME: directory, NODE_COMPILE_CACHE: join(directory, 'compile') };
    const ended = async (command: string, args: readonly string[]): Promise<number> =>
      (await runBare(command, args, { env })).ended;
    const { ours, bare, cold } = await takeTurns(rounds, {
      bare: () => ended(process.execPath, ['-e', '0']),
      ours: () => ended(join(root, 'bin', 'orrery'), ['--version']),
      cold: async () =>
        (
          await runBare(join(root, 'bin', 'orrery'), ['--version'], {
            env: { ...env, NODE_COMPILE_CACHE: '', NODE_DISABLE_COMPILE_CACHE: '1' },
          })
        ).ended,
    });
    const against = 'node -e 0';
    const common = { unit: 'ms', bare: spreadOf(bare), against } as const;
    return {
      rows: [
        within({ ...common, what: 'orrery --version', ours: spreadOf(ours) }, { below: 80 }),
        { ...common, what: 'orrery --version, without a compile cache', ours: spreadOf(cold), goal: null },
      ],
      notes: [],
    };
  },
};
