import { defineConfig } from 'vitest/config';

/** Backends on real servers that the tests start themselves: a container engine, an SSH server. One file after the other. */
export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.backend.test.ts', 'e2e/**/*.backend.test.ts'],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
