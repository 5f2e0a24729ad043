import type { ProgramPin } from '../harness.ts';

/** Codex as its platform packages: the native program, without the launcher that would leave it behind when killed. */
export const codexPin: ProgramPin = {
  version: '0.171.0',
  packages: [
    {
      name: '@openai/codex-linux-x64',
      version: 'npm:@openai/codex@0.171.0-linux-x64',
      platforms: ['linux-x64'],
      integrity: 'sha512-l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==',
    },
    {
      name: '@openai/codex-linux-arm64',
      version: 'npm:@openai/codex@0.171.0-linux-arm64',
      platforms: ['linux-arm64'],
      integrity: 'sha512-9z17t4bbUJ9UCIb49O4PoA+ki+45q3rd8nZ8PeH6sYnlKkBld/Xpo/OS3h3Ti954+foshX4o7k5TCU8N7zzqQA==',
    },
  ],
  executable: {
    'linux-x64': 'node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
    'linux-arm64': 'node_modules/@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex',
  },
  runsOnNode: false,
};
