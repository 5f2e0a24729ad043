#!/usr/bin/env node
import { version } from '@orrery/protocol/version';

// The fast path: nothing but the version is loaded before it is printed.
const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V' || words[0] === 'version'))
  process.stdout.write(`${version}\n`);
else await start();

async function start(): Promise<void> {
  // A reader that goes away (`orrery task list | head`) ends the command quietly.
  process.stdout.on('error', (thrown: NodeJS.ErrnoException) => (thrown.code === 'EPIPE' ? process.exit(0) : process.exit(1)));
  const [{ runProgram }, { systemWorld }] = await Promise.all([import('./program.ts'), import('./world.ts')]);
  process.exitCode = await runProgram(words, systemWorld());
}
