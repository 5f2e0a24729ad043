// A node whose tasks are driven through the dialogues of sessions, for each program that has one.

import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { upWith } from '../../packages/node/src/commands/up.ts';
import { resolvePaths } from '../../packages/node/src/config/paths.ts';
import { builtinHarnesses } from '../../packages/node/src/harness/registry.ts';
import { spokenTurn } from '../../packages/node/src/harness/spoken-turn.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { data: { type: 'string' }, config: { type: 'string' }, listen: { type: 'string' } },
});
const paths = resolvePaths({ env: process.env, home: homedir(), cwd: process.cwd(), data: values.data, config: values.config });
const harnesses = builtinHarnesses.map((harness) =>
  harness.session === null ? harness : { ...harness, ...spokenTurn(harness.session) },
);
await upWith({ paths, values, positionals: [] }, harnesses);
process.exit(0);
