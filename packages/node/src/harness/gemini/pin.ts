import type { ProgramPin } from '../harness.ts';

const everywhere = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const;

/** Gemini CLI runs on Node: one package for every platform. */
export const geminiPin: ProgramPin = {
  version: '0.61.0',
  packages: [
    {
      name: '@google/gemini-cli',
      version: '0.61.0',
      platforms: everywhere,
      integrity: 'sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
    },
  ],
  executable: Object.fromEntries(everywhere.map((platform) => [platform, 'node_modules/@google/gemini-cli/bundle/gemini.js'])),
  runsOnNode: true,
  alone: true,
};
