import { defineConfig } from 'vitest/config';

/** Backends on real servers that the tests start themselves: a container engine, an SSH server, of its own for each file. One file after the other: an engine that starts 20 containers at once has no processor to spare. */
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
