import type { ProgramPin } from '../harness.ts';

const everywhere = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const;

/** Qwen Code runs on Node: one package for every platform. Its entry would start it again; what that starts is named here. */
export const qwenPin: ProgramPin = {
  version: '0.24.4',
  packages: [
    {
      name: '@qwen-code/qwen-code',
      version: '0.24.4',
      platforms: everywhere,
      integrity: 'sha512-pmexy/Nj+BKd3Un1ogqGQE8V4GJn5B6N9PQOrU1GH+lMR29kn6Bgf6YdbZa8hNIoTmAKT1LTPK+P8TibZRPPVg==',
    },
  ],
  executable: Object.fromEntries(everywhere.map((platform) => [platform, 'node_modules/@qwen-code/qwen-code/cli.js'])),
  runsOnNode: true,
  alone: true,
};
