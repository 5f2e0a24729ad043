// A program's own login by a code: it runs in a folder of its own, which holds nothing else and is gone afterwards.

import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { removeMade } from '../files/remove-made.ts';
import type { InstalledProgram } from '../harness/harness.ts';
import type { DeviceLogin, DevicePrompt, NewLogin } from '../harness/login.ts';
import { runToEnd } from '../harness/run-to-end.ts';
import { inOneLine } from '../kernel/one-line.ts';
import { LOGIN_FILE_BYTES, PROMPT_MS } from './limits.ts';

/** A login under way: what to tell a person, and what comes of it. */
export type DeviceRun = {
  /** @throws OrreryError login_failed when the program ends or stays silent instead */
  readonly prompted: Promise<DevicePrompt>;
  /** Resolves when the folder is gone, too. @throws OrreryError login_failed */
  readonly done: Promise<NewLogin>;
};

export type DeviceParts = {
  /** Folder of all logins under way. */
  readonly directory: string;
  readonly harness: string;
  readonly program: InstalledProgram;
  readonly login: DeviceLogin;
  /** null: the usual one. */
  readonly issuer: string | null;
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** Names that a program needs on its way to its maker; nothing else of the node's environment. */
const PASSED = /^(LANG|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|(https?|no|all)_proxy)$/i;

/** Starts it. */
export const startDevice = (parts: DeviceParts): DeviceRun => {
  const prompt = Promise.withResolvers<DevicePrompt>();
  const done = run(parts, prompt.resolve);
  done.then(() => prompt.reject(failed(parts.harness, 'its program asked for nothing')), prompt.reject);
  prompt.promise.catch(() => undefined);
  return { prompted: prompt.promise, done };
};

const run = async (parts: DeviceParts, prompted: (prompt: DevicePrompt) => void): Promise<NewLogin> => {
  const { directory, harness, program, login, issuer, signal } = parts;
  const home = join(directory, `${harness}-${randomBytes(6).toString('hex')}`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    const silent = new AbortController();
    const alarm = setTimeout(() => silent.abort(), PROMPT_MS);
    const ran = await runToEnd({
      command: program.executable,
      args: login.args(issuer),
      cwd: home,
      env: { ...passed(parts.env ?? process.env), HOME: home, TMPDIR: home, PATH: '/usr/bin:/bin', [login.homeVariable]: home },
      timeoutMs: login.waitsMs,
      signal: AbortSignal.any([signal, silent.signal]),
      onStdout: (stdout) => {
        const prompt = login.prompt(stdout);
        if (prompt === null) return;
        clearTimeout(alarm);
        prompted(prompt);
      },
    }).finally(() => clearTimeout(alarm));
    if (signal.aborted) throw failed(harness, 'it was ended');
    if (silent.signal.aborted) throw failed(harness, `its program said nothing for ${PROMPT_MS / 1000} seconds`);
    if (ran.timedOut) throw failed(harness, `nobody typed the code within ${login.waitsMs / 60_000} minutes`);
    if (ran.exitCode !== 0) throw failed(harness, lastLine(`${ran.stdout}\n${ran.stderr}`));
    return login.read(await readBounded(join(home, login.file)));
  } finally {
    await removeMade(directory, home);
  }
};

const passed = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && PASSED.test(pair[0])),
  );

/** The program's last words; they hold no token, which it writes to its file alone. */
const lastLine = (said: string): string => {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  return inOneLine(lines.at(-1) ?? 'its program ended without a word').slice(0, 200);
};

const readBounded = async (file: string): Promise<string> => {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return '';
  try {
    const { size } = await handle.stat();
    return size > LOGIN_FILE_BYTES ? '' : await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
};

const failed = (harness: string, why: string): OrreryError =>
  new OrreryError('login_failed', `The login of ${harness} came to nothing: ${why}.`, {
    rule: 'A person goes to the address that its program names, logs in there and types the code.',
    fix: `orrery harness login ${harness}`,
  });

/** Takes away what a node left that died while somebody logged in: it may hold a token. */
export const sweepDevices = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory).catch(() => [])) await removeMade(directory, join(directory, name));
};
