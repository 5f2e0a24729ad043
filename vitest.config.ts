import { defineConfig } from 'vitest/config';

/** The fast tests: everything that needs no real program and under a second. */
export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.slow.test.ts', '**/*.backend.test.ts', '**/*.cluster.test.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
