// `npm run quickstart`: once the bootstrap has made everything ready, the demo is an ordinary command of the command
// line, so that what a newcomer sees is what they will use. Options are the demo's: npm run quickstart -- --backend local
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const main = join(root, 'packages', 'cli', 'src', 'main.ts');
const bin = join(root, 'bin');

/** Whether the person's shell finds orrery; what npm puts before the search path of a script is not theirs. */
const isOnPath = (): boolean =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && !folder.includes('node_modules') && existsSync(join(folder, 'orrery')));

const child = spawn(process.execPath, [main, 'demo', ...process.argv.slice(2)], { stdio: 'inherit' });

// Ctrl-C reaches the demo by the terminal: it says itself what goes on and what does not.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => {
  // The commands it named are there by their whole path alone, until somebody puts the folder on the search path.
  if (!isOnPath())
    process.stderr.write(`\n  Here, orrery is ${bin}/orrery. To type it as above:\n  export PATH="${bin}:$PATH"\n`);
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
