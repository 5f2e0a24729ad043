import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What one command of a bare tool may take. */
const COMMAND_MS = 60_000;

/** Runs a command to its end; answers stdout. Rejects when it fails, or was ended after `timeoutMs`. */
export const bareCommand = async (argv: readonly string[], timeoutMs = COMMAND_MS, env = process.env): Promise<string> => {
  const [command, ...args] = argv as [string, ...string[]];
  return (await run(command, args, { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1 << 26, env })).stdout;
};

/** The same for a script of bash, in which the failure of any part is one; `words` are its arguments. */
export const bareScript = (script: string, ...words: readonly string[]): Promise<string> =>
  bareCommand(['bash', '-o', 'pipefail', '-ec', script, 'bash', ...words]);

/** Which of the programs are not installed, as a sentence; null when all are. */
export const whyMissing = (debian: string, ...programs: readonly string[]): string | null => {
  const missing = programs.filter((name) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status !== 0);
  return missing.length === 0 ? null : `${missing.join(', ')} not installed (Debian: apt-get install ${debian})`;
};

/** Bytes of what `du -sk` says. */
export const bytesOfDu = (said: string): number => Number.parseInt(said, 10) * 1024;
