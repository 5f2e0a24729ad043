// Glossary. A program is an agent's, in the one version its adapter is pinned to. It is made in a folder beside its place,
// checked there, and renamed into place: what has its place is whole.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { removeMade } from '../files/remove-made.ts';
import type { InstalledProgram, ProgramPin } from './harness.ts';
import { findOwnProgram } from './own/find-program.ts';
import { yourOwn } from './program.ts';
import { builtinHarnesses, createHarnessRegistry } from './registry.ts';
import { runToEnd, type RunToEnd } from './run-to-end.ts';

/** How long a download may take: the largest program has 400 MB. */
const INSTALL_MS = 15 * 60_000;
/** How long a program may take to say its version. */
const VERSION_MS = 60_000;
/** A half-made folder older than this belongs to nobody any more. */
const STALE_MS = 60 * 60_000;

/** What an installation came to. */
export type InstallResult = {
  readonly id: string;
  readonly version: string;
  readonly path: string;
  readonly alreadyThere: boolean;
  readonly tookMs: number;
};

/** The agent programs of a node. */
export type HarnessPrograms = {
  /**
   * Installs the pinned program of a harness; when it is there, only says so. Two at once do the work once.
   * @throws OrreryError unknown_name, unsupported (no program, or none for this platform), harness_not_installed (with npm's words), disk_full
   */
  install(id: string, progress?: (step: string) => void): Promise<InstallResult>;
  /** Where the pinned program is, or null. */
  installed(id: string): Promise<InstalledProgram | null>;
};

export type HarnessProgramsParts = {
  /** Folder of all programs: `<directory>/<harness>/<version>`. A shared one may have `<directory>/<harness>` instead. */
  readonly directory: string;
  /** `linux-x64`; default: this machine's. */
  readonly platform?: string;
  /** Pins by harness; default: those of the built-in adapters. */
  readonly pins?: ReadonlyMap<string, ProgramPin | null>;
  /** The command of a harness whose program is the operator's own; null: it is not. */
  readonly own?: (id: string) => string | null;
  /** Node that runs the programs made for it. */
  readonly node?: string;
  /** The npm command, or the path of its script. */
  readonly npm?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly run?: RunToEnd;
};

/** Makes the keeper of a programs folder. */
export const createHarnessPrograms = (parts: HarnessProgramsParts): HarnessPrograms => {
  const {
    directory,
    platform = `${process.platform}-${process.arch}`,
    node = process.execPath,
    run = runToEnd,
    env = process.env,
  } = parts;
  const pins = parts.pins ?? new Map(builtinHarnesses.map(({ id, pin }) => [id, pin]));
  const npm = parts.npm ?? env['npm_execpath'] ?? 'npm';
  const running = new Map<string, Promise<InstallResult>>();

  const pinOf = (id: string): { readonly pin: ProgramPin; readonly executable: string } => {
    // Says which harnesses there are when the id is unknown.
    const pin = pins.has(id) ? pins.get(id) : createHarnessRegistry().get(id).pin;
    const executable = pin?.executable[platform];
    if (pin !== null && pin !== undefined && executable !== undefined) return { pin, executable };
    throw new OrreryError(
      'unsupported',
      pin === null || pin === undefined
        ? `The harness ${id} has no program to install.`
        : `The program of ${id} is not made for ${platform}.`,
      {
        rule:
          pin === null || pin === undefined
            ? 'It runs what it is given.'
            : `It is made for ${Object.keys(pin.executable).join(', ')}.`,
        fix: 'orrery harness list',
      },
    );
  };

  const installed = async (id: string): Promise<InstalledProgram | null> => {
    const { pin, executable } = pinOf(id);
    const own = join(directory, id, pin.version);
    const shared = join(directory, id);
    const folder = isWhole(own, pin, platform) ? own : isWhole(shared, pin, platform) ? shared : null;
    return folder === null || !existsSync(join(folder, executable))
      ? null
      : { directory: folder, executable: join(folder, executable), version: pin.version, node };
  };

  const install = async (id: string, progress: (step: string) => void): Promise<InstallResult> => {
    const startedMs = performance.now();
    const answer = (path: string, alreadyThere: boolean): InstallResult => ({
      id,
      version: pinOf(id).pin.version,
      path,
      alreadyThere,
      tookMs: Math.round(performance.now() - startedMs),
    });
    const before = await installed(id);
    if (before !== null) return answer(before.directory, true);
    const { pin, executable } = pinOf(id);
    const place = join(directory, id, pin.version);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removeStale(directory);
    // What is in its place but not whole was not put there by an installation that ended well.
    await removeMade(directory, place);
    const making = join(directory, `.making-${id}-${randomBytes(6).toString('hex')}`);
    await mkdir(making, { mode: 0o700 });
    try {
      await makeProgram({ id, pin, executable: join(making, executable), making, platform, node, npm, env, run, progress });
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await rename(making, place).catch((thrown: NodeJS.ErrnoException) => {
        // Another process was faster; what it put there was checked like ours.
        if (thrown.code !== 'ENOTEMPTY' && thrown.code !== 'EEXIST') throw thrown;
      });
    } finally {
      await removeMade(directory, making);
    }
    const after = await installed(id);
    if (after === null) throw failed(id, `${place} is there but not whole`);
    progress(`${id} ${pin.version} is installed`);
    return answer(after.directory, false);
  };

  const own = parts.own ?? (() => null);
  return {
    installed: async (id) => {
      const command = own(id);
      if (command !== null) return findOwnProgram(command, { path: env['PATH'], node });
      return pins.get(id) === null ? null : installed(id);
    },
    install(id, progress = () => undefined) {
      if (own(id) !== null) throw yourOwn(id);
      const known = running.get(id);
      if (known !== undefined) return known;
      const begun = install(id, progress).finally(() => running.delete(id));
      running.set(id, begun);
      return begun;
    },
  };
};

const wanted = (pin: ProgramPin, platform: string): ProgramPin['packages'] =>
  pin.packages.filter(({ platforms }) => platforms.includes(platform));

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });
const lockFile = z.object({ packages: z.record(z.string(), z.object({ integrity: z.string().optional() })) });

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
};

/** Whether a folder's manifest asks for exactly the pinned packages and its lock file has them with their integrity. */
const isWhole = (folder: string, pin: ProgramPin, platform: string): boolean => {
  const asked = manifest.safeParse(readJson(join(folder, 'package.json'))).data;
  const locked = lockFile.safeParse(readJson(join(folder, 'package-lock.json'))).data;
  return wanted(pin, platform).every(
    ({ name, version, integrity }) =>
      asked?.dependencies[name] === version && locked?.packages[`node_modules/${name}`]?.integrity === integrity,
  );
};

type Making = {
  readonly id: string;
  readonly pin: ProgramPin;
  readonly executable: string;
  readonly making: string;
  readonly platform: string;
  readonly node: string;
  readonly npm: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunToEnd;
  readonly progress: (step: string) => void;
};

const makeProgram = async (parts: Making): Promise<void> => {
  const { id, pin, making, platform, progress } = parts;
  const dependencies = Object.fromEntries(wanted(pin, platform).map(({ name, version }) => [name, version]));
  await writeFile(join(making, 'package.json'), JSON.stringify({ private: true, dependencies }));
  progress(`downloading ${id} ${pin.version}`);
  await download(parts);
  progress(`checking ${id} ${pin.version}`);
  if (!isWhole(making, pin, platform))
    throw failed(id, 'the registry gave another package than the one that is pinned (its integrity differs)');
  await checkVersion(parts);
};

/** npm itself checks each tarball against the integrity it wrote into the lock file; that one is then checked against the pin. */
const download = async ({ id, pin, making, npm, node, env, run }: Making): Promise<void> => {
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--package-lock=true',
    '--loglevel=error',
    ...(pin.alone === true ? ['--omit=optional'] : []),
  ];
  const isScript = /\.[cm]?js$/.test(npm);
  const ran = await run({
    command: isScript ? node : npm,
    args: isScript ? [npm, ...args] : args,
    cwd: making,
    env: npmEnvironment(env, node),
    timeoutMs: INSTALL_MS,
  });
  if (ran.exitCode === 0) return;
  if (/ENOSPC|EDQUOT/.test(ran.stderr))
    throw new OrreryError('disk_full', `The disk is full: ${id} could not be installed.`, {
      fix: 'Free space on the disk of the data directory, then repeat the command.',
    });
  if (ran.timedOut) throw failed(id, `npm was not done after ${INSTALL_MS / 60_000} minutes`);
  throw failed(id, npmWords(ran.stderr));
};

/** npm's first lines say what failed, the rest where its log is. */
const npmWords = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log'))
    .slice(0, 3)
    .join('; ')
    .slice(0, 500) || 'npm failed without a word';

/** Names that npm needs: its own configuration, certificates and proxies of the machine; nothing else of the node's environment. */
const PASSED =
  /^(HOME|USERPROFILE|TMPDIR|LANG|LC_ALL|npm_config_.+|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|no|all)_proxy)$/i;

const npmEnvironment = (env: Readonly<Record<string, string | undefined>>, node: string): Readonly<Record<string, string>> => {
  const passed = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && PASSED.test(pair[0]));
  return { ...Object.fromEntries(passed), PATH: `${dirname(node)}:${env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}` };
};

/** The program says its version, with nothing of this machine's in reach that it could load. */
const checkVersion = async ({ id, pin, executable, making, node, run }: Making): Promise<void> => {
  const home = join(making, '.check');
  await mkdir(home);
  const command = pin.runsOnNode ? node : executable;
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, LANG: 'C.UTF-8', PI_OFFLINE: '1', DISABLE_AUTOUPDATER: '1' };
  const ran = await run({
    command,
    args: pin.runsOnNode ? [executable, '--version'] : ['--version'],
    cwd: home,
    env,
    timeoutMs: VERSION_MS,
  });
  await removeMade(dirname(making), home);
  const said = `${ran.stdout}\n${ran.stderr}`.trim();
  if (ran.exitCode === 0 && said.includes(pin.version)) return;
  throw failed(id, `it does not run here: ${said.split('\n').at(-1)?.slice(0, 200) || `exit code ${ran.exitCode}`}`);
};

const failed = (id: string, why: string): OrreryError =>
  new OrreryError('harness_not_installed', `The program of ${id} could not be installed: ${why}.`, {
    rule: 'It comes from the npm registry, in one pinned version, and is checked before it takes its place. Nothing was left behind.',
    fix: `orrery harness install ${id}`,
  });

/** What a killed installation left. */
const removeStale = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (!name.startsWith('.making-')) continue;
    const found = await stat(join(directory, name)).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > STALE_MS) await removeMade(directory, join(directory, name));
  }
};
