/** Files of the suite that hold conversations with agents; they are a stage of their own, since they take as long as all others. */
export const conversationFiles: readonly string[] = [
  'e2e/agent-files.test.ts',
  'e2e/attached.test.ts',
  'e2e/chat.test.ts',
  'e2e/editor*.test.ts',
  'e2e/live-text.test.ts',
  'e2e/own-agents.test.ts',
  'e2e/project-settings.test.ts',
  'e2e/sessions.test.ts',
  'e2e/sessions-{acp-content,asks,content,failures,failures-acp,life,rewind}.test.ts',
  'e2e/spoken-turns.test.ts',
  'e2e/turn-programs.test.ts',
  'e2e/web-making.test.ts',
  'e2e/web-proofs.test.ts',
  'e2e/web.test.ts',
];
