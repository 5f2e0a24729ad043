import type { ProgramPin } from '../harness.ts';

/** OpenCode as the native binary that needs no AVX2: it runs on every x64 machine. The registry has this version for no other. */
export const opencodePin: ProgramPin = {
  version: '1.18.33',
  packages: [
    {
      name: 'opencode-linux-x64-baseline',
      version: '1.18.33',
      platforms: ['linux-x64'],
      integrity: 'sha512-1KQGBiiDDeL/VHHbHkOvvFo8Jr97WT5+C1tear+p7IcDTnXgVHXqIjU4O4jM4mHQzykTP2i884FCnW5LDa+zCA==',
    },
  ],
  executable: { 'linux-x64': 'node_modules/opencode-linux-x64-baseline/bin/opencode' },
  runsOnNode: false,
};
