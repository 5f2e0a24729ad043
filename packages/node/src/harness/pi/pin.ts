import type { ProgramPin } from '../harness.ts';

const everywhere = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const;

/** Pi runs on Node: one package for every platform. */
export const piPin: ProgramPin = {
  version: '1.6.0',
  packages: [
    {
      name: '@earendil-works/pi-coding-agent',
      version: '1.6.0',
      platforms: everywhere,
      integrity: 'sha512-zX1BVEsshx7A2MRuQ6jfr3RJGWw4Wn+vLq5ZfmlvS1RskhRmByaSZVXH/zcwRrWHO7qPgs98pNCbPOEti/t0fQ==',
    },
  ],
  executable: Object.fromEntries(
    everywhere.map((platform) => [platform, 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js']),
  ),
  runsOnNode: true,
};
