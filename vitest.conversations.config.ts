import { defineConfig } from 'vitest/config';
import { conversationFiles } from './e2e/support/conversation-files.ts';

/** The part of the end-to-end tests that holds conversations, in the same way. */
export default defineConfig({
  test: {
    include: [...conversationFiles],
    globalSetup: ['e2e/support/warm-up.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
