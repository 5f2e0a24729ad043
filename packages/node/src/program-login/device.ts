// A program's own login by a code: it runs in a folder of its own, which holds nothing else and is gone afterwards.

import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { removeMade } from '../files/remove-made.ts';
import type { InstalledProgram } from '../harness/harness.ts';
import type { DeviceLogin, DevicePrompt, NewLogin } from '../harness/login.ts';
import { inOneLine } from '../kernel/one-line.ts';
import type { CommandEnding, Spawner } from '../kernel/spawner.ts';
import { LOGIN_FILE_BYTES, PRINTED_CHARS, PROMPT_MS } from './limits.ts';

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
  /** What it starts ends with the node. */
  readonly spawner: Spawner;
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
  const { directory, harness, login } = parts;
  const home = join(directory, `${harness}-${randomBytes(6).toString('hex')}`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    const { ending, printed, why } = await toItsEnd(parts, home, prompted);
    if (why !== null) throw failed(harness, why);
    if (ending.kind !== 'exited' || ending.code !== 0) throw failed(harness, lastLine(printed));
    return login.read(await readBounded(join(home, login.file)));
  } finally {
    await removeMade(directory, home);
  }
};

type Ended = { readonly ending: CommandEnding; readonly printed: string; readonly why: string | null };

/** Runs the program until it ends, or is ended: by who asked for it, for its silence, or since nobody typed the code. */
const toItsEnd = async (
  { program, login, issuer, signal, harness: _harness, ...parts }: DeviceParts,
  home: string,
  prompted: (prompt: DevicePrompt) => void,
): Promise<Ended> => {
  const started = parts.spawner.start({
    program: program.executable,
    args: login.args(issuer),
    cwd: home,
    environment: {
      ...passed(parts.env ?? process.env),
      HOME: home,
      TMPDIR: home,
      PATH: '/usr/bin:/bin',
      [login.homeVariable]: home,
    },
    stderr: true,
  });
  const [silent, late] = [AbortSignal.timeout(PROMPT_MS), AbortSignal.timeout(login.waitsMs)];
  const state = { printed: '', why: null as string | null, asked: false };
  const end = (why: string): void => {
    state.why ??= why;
    started.endGroup();
  };
  const stop = () => end('it was ended');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  silent.addEventListener('abort', () => state.asked || end(`its program said nothing for ${PROMPT_MS / 1000} seconds`));
  late.addEventListener('abort', () => end(`nobody typed the code within ${login.waitsMs / 60_000} minutes`));
  for (const stream of [started.stdout, started.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      state.printed = (state.printed + text).slice(-PRINTED_CHARS);
      const prompt = state.asked ? null : login.prompt(state.printed);
      if (prompt === null) return;
      state.asked = true;
      prompted(prompt);
    });
  const ending = await started.ended;
  signal.removeEventListener('abort', stop);
  return { ending, printed: state.printed, why: state.why };
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
