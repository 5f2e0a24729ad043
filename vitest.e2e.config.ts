import { defineConfig } from 'vitest/config';
import { conversationFiles } from './e2e/support/conversation-files.ts';

/** A real node, real agent programs, a scripted model: two files at a time, since each has a node of its own and waits for it half of the time. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.backend.test.ts', '**/*.cluster.test.ts', ...conversationFiles],
    globalSetup: ['e2e/support/warm-up.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
