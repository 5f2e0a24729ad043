// The node's own program. The command line starts it; each verb answers one JSON line on standard output.

import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { closest, errorCatalogue, OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Verb } from './commands/verb.ts';
import { resolvePaths } from './config/paths.ts';

// Each verb is loaded when it is asked for: a selftest needs no server.
const verbs: Readonly<Record<string, () => Promise<Verb>>> = {
  up: async () => (await import('./commands/up.ts')).up,
  demo: async () => (await import('./commands/demo.ts')).demo,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  selftest: async () => (await import('./commands/selftest.ts')).selftest,
  secret: async () => (await import('./commands/secret.ts')).secret,
  config: async () => (await import('./commands/config.ts')).config,
};

const options = {
  data: { type: 'string' },
  config: { type: 'string' },
  listen: { type: 'string' },
  'insecure-bind': { type: 'boolean' },
  detach: { type: 'boolean' },
  folder: { type: 'string' },
  backend: { type: 'string' },
} as const;

const run = async (args: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
  const [name = '', ...rest] = args;
  const load = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (load === undefined) {
    const guess = closest(name, Object.keys(verbs));
    throw new OrreryError('unknown_command', `The node's program has no verb "${name.slice(0, 50)}".`, {
      rule: `It has ${Object.keys(verbs).join(', ')}.`,
      fix: guess === null ? undefined : `Did you mean ${guess}?`,
    });
  }
  const { values, positionals } = parse(rest);
  const paths = resolvePaths({ env: process.env, home: homedir(), cwd: process.cwd(), data: values.data, config: values.config });
  const verb = await load();
  return verb({ paths, values, positionals });
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (thrown) {
    throw new OrreryError('invalid_input', thrown instanceof Error ? thrown.message : 'The options cannot be read.', {
      rule: `Options are ${Object.keys(options)
        .map((name) => `--${name}`)
        .join(', ')}.`,
    });
  }
};

const say = (line: Readonly<Record<string, unknown>>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

try {
  say(await run(process.argv.slice(2)));
} catch (thrown) {
  const error = toOrreryError(thrown);
  if (error.code === 'internal')
    process.stderr.write(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
  // A start that failed half-way holds a store and a lock: ending the process gives them back.
  process.stdout.write(`${JSON.stringify({ error: error.toBody() })}\n`, () => process.exit(errorCatalogue[error.code].exit));
}
