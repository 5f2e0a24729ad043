import { sshFactory } from '../../packages/node/src/exec/ssh/index.ts';
import { noSshHost, startSshHost } from '../../packages/node/test/ssh/host.ts';
import { optionsFor } from '../../packages/node/test/ssh/places.ts';
import { timed } from '../benchmark.ts';
import { bareCommand, bareScript, bytesOfDu, whyMissing } from './bare-command.ts';
import type { BareTool, Contender } from './subject.ts';
import { NOTHING } from './tree.ts';

const BUDGET_MS = 60_000;
const HOST = 'box-root';

const bareSsh = (config: string, tree: string): BareTool => {
  let count = 0;
  const ssh = (...words: readonly string[]): Promise<string> => bareCommand(['ssh', '-F', config, HOST, ...words]);
  return {
    words: {
      open: 'tar over ssh, ssh',
      exec: 'ssh',
      close: 'ssh rm -rf',
      fetch: 'tar over ssh back, ssh rm -rf',
      stage: 'tar over ssh',
    },
    open: async () => {
      const work = `work-${count++}`;
      const there = `mkdir ${work} && tar -C ${work} -xf -`;
      const stagedMs = await timed(() => bareScript('tar -C "$1" -cf - . | ssh -F "$2" "$3" "$4"', tree, config, HOST, there));
      return {
        stagedMs,
        exec: async () => void (await ssh(NOTHING.at(-1)!)),
        change: async (script) => void (await ssh(`cd ${work} && ${script}`)),
        diskBytes: async () => bytesOfDu(await ssh(`du -sk ${work}`)),
        close: async (fetch) => {
          if (fetch) await bareScript('ssh -F "$2" "$3" "$4" | tar -C "$1" -xf -', tree, config, HOST, `tar -C ${work} -cf - .`);
          await ssh(`rm -rf ${work}`);
        },
      };
    },
  };
};

/** Folders on a host of the benchmark's own: a server on loopback. */
export const ssh: Contender = {
  name: 'ssh',
  budgetMs: BUDGET_MS,
  why: () => noSshHost() ?? whyMissing('openssh-client', 'ssh', 'ssh-keygen'),
  make: async ({ bare, parts }, limit) => {
    // One that comes up too late ends with this process.
    const host = await limit.hold('the start of the host', startSshHost());
    return {
      backend: sshFactory(parts).make(optionsFor(host)),
      bare: bareSsh(host.config, bare),
      diskBytes: async (environment) => (await environment.stats()).diskBytes ?? Number.NaN,
      close: () => host.close(),
    };
  },
};
