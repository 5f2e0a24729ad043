import { FILES, TREE_BYTES } from './backends/tree.ts';
import type { Benchmark } from './benchmark.ts';

/** What each backend costs beside the bare tool that people would use in its place. */
export const backends: Benchmark = {
  name: 'backends',
  title: `an environment with ${FILES.toLocaleString('en')} files of ${Math.round(TREE_BYTES / 1e6)} MB on each backend, against the bare tool`,
  rounds: 3,
  // Loaded when it is run: clients of engines and clusters make this process larger, and so the bare starts of others slower.
  run: async (options) => (await import('./backends/report.ts')).reportBackends(options),
};
