import { defineConfig } from 'vitest/config';

/** Backends on real servers that the tests start themselves: a container engine, an SSH server, of its own for each file. They wait more than they work: two run at a time. */
export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.backend.test.ts', 'e2e/**/*.backend.test.ts'],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
