// `npm run quickstart`: once the bootstrap has made everything ready, the demo is an ordinary command of the command
// line, so that what a newcomer sees is what they will use. Options are the demo's: npm run quickstart -- --backend local
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

const main = join(dirname(import.meta.dirname), 'packages', 'cli', 'src', 'main.ts');
const child = spawn(process.execPath, [main, 'demo', ...process.argv.slice(2)], { stdio: 'inherit' });

// Ctrl-C reaches the demo by the terminal: it says itself what goes on and what does not.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
