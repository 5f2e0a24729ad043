import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

/** When a program was known to run, and when it had ended, in milliseconds from the call. */
export type Times = { readonly ran: number; readonly ended: number };

/** Starts a program as Node itself does and waits for its end. Rejects when it fails. */
export const runBare = async (command: string, args: readonly string[], options: SpawnOptions = {}): Promise<Times> => {
  const from = performance.now();
  const child = spawn(command, [...args], { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
  await once(child, 'spawn');
  const ran = performance.now() - from;
  const [code, signal] = await exit;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}`);
  return { ran, ended: performance.now() - from };
};
