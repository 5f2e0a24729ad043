#!/usr/bin/env node
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ScriptError } from './script.ts';
import { start } from './server.ts';

const USAGE = `Usage: scripted-model [--port N | --socket PATH] [--port-file FILE] [--script FILE] [--log FILE] [--marker-pattern REGEX]
Plays the script (a JSON file) to whatever agent program calls it, on 127.0.0.1 or a Unix socket, until it gets SIGTERM or SIGINT.`;

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`scripted-model: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ScriptError || (error instanceof TypeError && 'code' in error) ? 2 : 1;
}

async function run(argv: string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: argv,
    options: {
      port: text,
      socket: text,
      'port-file': text,
      script: text,
      log: text,
      'marker-pattern': text,
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return void process.stdout.write(`${USAGE}\n`);
  const server = await start({
    port: portOf(values.port),
    socket: values.socket,
    script: values.script === undefined ? undefined : readScript(values.script),
    logFile: values.log,
    markerPattern: values['marker-pattern'],
  });
  if (values['port-file'] !== undefined) writeWhole(values['port-file'], String(server.port));
  process.stdout.write(`${server.socket ?? server.url}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close());
}

function portOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535)
    throw new ScriptError(`--port ${value}: expected a number from 0 to 65535.`);
  return Number(value);
}

function readScript(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ScriptError(`${file}: not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A reader never sees half a number. */
function writeWhole(file: string, content: string): void {
  writeFileSync(`${file}.part`, content);
  renameSync(`${file}.part`, file);
}
