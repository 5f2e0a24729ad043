import { dockerFactory } from '../../packages/node/src/exec/docker/index.ts';
import { SMALL_IMAGE } from '../../packages/node/test/docker/engine.ts';
import { importSmallImage, startTestEngine, whyNoEngine } from '../../packages/testkit/src/index.ts';
import { timed } from '../benchmark.ts';
import { bareCommand, whyMissing } from './bare-command.ts';
import type { BareTool, Contender } from './subject.ts';
import { NOTHING } from './tree.ts';

const BUDGET_MS = 60_000;

const bareDocker = (socket: string, tree: string): BareTool => {
  const docker = (...args: readonly string[]): Promise<string> => bareCommand(['docker', '-H', `unix://${socket}`, ...args]);
  return {
    words: {
      open: 'docker run -d, cp, exec',
      exec: 'docker exec',
      close: 'docker rm -f',
      fetch: 'docker cp back, rm -f',
      stage: 'docker cp',
    },
    open: async () => {
      // As root: what `docker cp` brings belongs to root.
      const started = await docker('run', '-d', '--network', 'none', '--user', '0:0', SMALL_IMAGE, 'sleep', '600');
      const id = started.trim();
      const stagedMs = await timed(() => docker('cp', '-q', tree, `${id}:/files`));
      const exec = (...argv: readonly string[]): Promise<string> => docker('exec', id, ...argv);
      return {
        stagedMs,
        exec: async () => void (await exec(...NOTHING)),
        change: async (script) => void (await exec('sh', '-ec', `cd /files; ${script}`)),
        // As the engine says it of ours too: lengths, not blocks.
        diskBytes: async () => Number(await docker('inspect', '--size', '--format', '{{.SizeRw}}', id)),
        close: async (fetch) => {
          if (fetch) await docker('cp', '-q', `${id}:/files/.`, tree);
          await docker('rm', '-f', id);
        },
      };
    },
  };
};

/** Containers in an engine of the benchmark's own. */
export const docker: Contender = {
  name: 'docker',
  budgetMs: BUDGET_MS,
  why: () => whyNoEngine('docker') ?? whyMissing('docker.io', 'docker'),
  make: async ({ bare, parts }, limit) => {
    // One that comes up too late ends with this process.
    const engine = await limit.hold('the start of the engine', startTestEngine('docker'));
    try {
      await importSmallImage(engine, SMALL_IMAGE);
    } catch (thrown) {
      await engine.close();
      throw thrown;
    }
    return {
      backend: dockerFactory(parts).make({ socket: engine.socket, image: SMALL_IMAGE }),
      bare: bareDocker(engine.socket, bare),
      diskBytes: async (environment) => (await environment.stats()).diskBytes ?? Number.NaN,
      close: () => engine.close(),
    };
  },
};
