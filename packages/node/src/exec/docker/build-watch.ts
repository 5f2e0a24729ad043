// Looks after a build while it runs: what its builder does not bound by itself is set on each of its containers, or measured.
import { OrreryError } from '@orrery/protocol/errors';
import type { BuildBound, BuildBounds } from './build-bounds.ts';
import type { Engine } from './engine.ts';
import { LABELS } from './labels.ts';

/** What watching needs. */
export type WatchParts = {
  readonly engine: Pick<Engine, 'inspect' | 'stats' | 'findImage' | 'boundProcesses' | 'watchMemory'>;
  readonly installation: string;
  readonly bounds: BuildBounds;
  readonly everyMs: number;
  /** Ends the build for a bound. */
  readonly end: (bound: BuildBound) => void;
  /** Ends it since a bound cannot be held. */
  readonly refuse: (error: OrreryError) => void;
};

/** One build, looked after. */
export type BuildWatch = {
  /** Takes a line of the builder. What a program prints may look like one: whatever it names is looked at first. */
  line(text: string): void;
  /** The bound that explains a failure, which may still be on its way; null: none was reached. */
  reached(): Promise<BuildBound | null>;
  stop(): void;
};

/** How long news of an end may come after the end. */
const NEWS_MS = 500;

/** What could not be started is not counted, and who tried it may have ended: this near, the bound was reached. */
const NEARLY = 0.9;

const unbounded = (cause: unknown): OrreryError =>
  new OrreryError('backend_unavailable', 'The image of the project was not built: the engine does not bound its processes.', {
    rule: 'A build has a bound of processes (execution.options.docker.build.processes).',
    cause,
  });

/** Begins to look after a build. */
export const watchBuild = ({ engine, installation, bounds, everyMs, end, refuse }: WatchParts): BuildWatch => {
  const stopped = new AbortController();
  const met = new Set<BuildBound>();
  const oom = Promise.withResolvers<void>();
  let step: string | null = null;
  let busy = false;

  /** Only containers of builds of this installation are touched. */
  const own = async (id: string, withSize = false) => {
    const found = await engine.inspect(id, withSize);
    const labels = found?.Config.Labels;
    return labels?.[LABELS.installation] === installation && labels[LABELS.environment] === undefined ? found : null;
  };

  const bind = async (id: string): Promise<void> => {
    if ((await own(id)) === null) return;
    step = id;
    await engine.boundProcesses(id, bounds.processes).catch(async (thrown: unknown) => {
      // A step that has ended needs none.
      if ((await own(id))?.State.Running === true) refuse(unbounded(thrown));
    });
  };

  const look = async (id: string): Promise<void> => {
    const { pids_stats } = await engine.stats(id);
    if ((pids_stats?.current ?? 0) >= bounds.processes * NEARLY) met.add('processes');
    const found = await own(id, true);
    if ((found?.SizeRootFs ?? 0) > bounds.diskBytes) end('diskBytes');
  };

  const weigh = async (id: string): Promise<void> => {
    if (((await engine.findImage(id))?.Size ?? 0) > bounds.diskBytes) end('diskBytes');
  };

  // What is gone meanwhile has ended, and the build says how.
  const quietly = (work: Promise<void>): Promise<void> => work.catch(() => undefined);

  const timer = setInterval(() => {
    if (step === null || busy) return;
    busy = true;
    void quietly(look(step)).then(() => (busy = false));
  }, everyMs);
  timer.unref();

  void quietly(
    engine.watchMemory(installation, stopped.signal, (id) => {
      if (step === null || !id.startsWith(step)) return;
      met.add('memoryBytes');
      oom.resolve();
    }),
  );

  return {
    line: (text) => {
      const [, running, id = ''] = /^ ---> (Running in )?([0-9a-f]{12,64})$/.exec(text) ?? [];
      if (id !== '') void quietly(running === undefined ? weigh(id) : bind(id));
    },
    reached: async () => {
      if (met.size === 0) await Promise.race([oom.promise, new Promise((resolve) => void setTimeout(resolve, NEWS_MS))]);
      return met.has('memoryBytes') ? 'memoryBytes' : met.has('processes') ? 'processes' : null;
    },
    stop: () => {
      clearInterval(timer);
      stopped.abort();
    },
  };
};
