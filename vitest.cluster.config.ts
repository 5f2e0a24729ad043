import { defineConfig } from 'vitest/config';

/** The backend on a real cluster, which is started once for all files and stopped after them. Files wait more than they work: two run at a time. */
export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.cluster.test.ts', 'e2e/**/*.cluster.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['packages/node/test/kubernetes/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
