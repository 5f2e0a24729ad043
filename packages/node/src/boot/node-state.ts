import type { NodeFacts } from '@orrery/protocol';
import { version } from '@orrery/protocol/version';
import type { NodeConfig } from '../config/node-schema.ts';
import { toInstant } from '../kernel/clock.ts';
import { isPaused } from '../queue/index.ts';
import type { Store } from '../store/store.ts';
import { countByState } from '../task/index.ts';

/** What a node knows of itself while it runs. */
export type NodeState = {
  readonly installationId: string;
  readonly generation: string;
  readonly startedAtMs: number;
  readonly dataDirectory: string;
  url: string;
  phase: NodeFacts['state'];
  /** Configuration keys that were changed and hold from the next start on. */
  needRestart: readonly string[];
};

/** The facts a client sees. */
export const nodeFacts = async (
  state: NodeState,
  parts: { readonly store: Store; readonly config: () => NodeConfig },
): Promise<NodeFacts> => {
  const { store, config } = parts;
  const counts = await countByState(store.read);
  const { name, execution, harness } = config();
  return {
    name,
    version,
    installationId: state.installationId,
    generation: state.generation,
    pid: process.pid,
    startedAt: toInstant(state.startedAtMs),
    dataDirectory: state.dataDirectory,
    url: state.url,
    seq: store.seq(),
    state: state.phase,
    defaultBackend: execution.backend,
    defaultHarness: harness,
    tasks: { queued: counts.get('queued') ?? 0, waiting: counts.get('waiting') ?? 0, running: counts.get('running') ?? 0 },
    queuePaused: await isPaused(store.read),
    memoryBytes: process.memoryUsage.rss(),
  };
};
