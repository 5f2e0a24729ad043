import { defineConfig } from 'vitest/config';
import { conversationFiles } from './e2e/support/conversation-files.ts';

/** A real node, real agent programs, a scripted model: one file after the other, since each starts a node. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.backend.test.ts', '**/*.cluster.test.ts', ...conversationFiles],
    globalSetup: ['e2e/support/warm-up.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
