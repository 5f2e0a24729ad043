import { defineConfig } from 'vitest/config';

/** The slow tests: real programs, real processes, the kernel. A process for each file, so that none sees another's children; two at a time. */
export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.slow.test.ts',
      'packages/*/test/**/*.slow.test.ts',
      'tools/**/*.slow.test.ts',
      'bench/**/*.slow.test.ts',
    ],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
