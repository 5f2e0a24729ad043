import type { ProgramPin } from '../harness.ts';

/** Claude Code as its platform packages: the native binary, without the launcher that needs an install script. */
export const claudePin: ProgramPin = {
  version: '2.1.332',
  packages: [
    {
      name: '@anthropic-ai/claude-code-linux-x64',
      version: '2.1.332',
      platforms: ['linux-x64'],
      integrity: 'sha512-f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==',
    },
    {
      name: '@anthropic-ai/claude-code-linux-arm64',
      version: '2.1.332',
      platforms: ['linux-arm64'],
      integrity: 'sha512-BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+quMWS0NSJg==',
    },
  ],
  executable: {
    'linux-x64': 'node_modules/@anthropic-ai/claude-code-linux-x64/claude',
    'linux-arm64': 'node_modules/@anthropic-ai/claude-code-linux-arm64/claude',
  },
  runsOnNode: false,
};
