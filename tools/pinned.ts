// Programs of the npm registry, in a folder of their own and exactly as pinned: the versions and what the registry's
// files must hash to.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramPin } from '../packages/node/src/harness/harness.ts';

/** What has to be known of a program to install it. */
export type Pin = Pick<ProgramPin, 'packages' | 'executable' | 'version' | 'alone'>;

const platform = `${process.platform}-${process.arch}`;

type Lock = { packages?: Record<string, { integrity?: string }> };

function wantedPackages(pin: Pin): Pin['packages'] {
  return pin.packages.filter(({ platforms }) => platforms.includes(platform));
}

/** Path of its executable in the folder it is installed into; undefined where it is not made for this platform. */
export function executableOf(folder: string, pin: Pin): string | undefined {
  const executable = pin.executable[platform];
  return executable === undefined ? undefined : join(folder, executable);
}

/** Whether exactly the pinned packages lie in the folder: the manifest asks for them and the executable is there. */
export function isInstalled(folder: string, pin: Pin): boolean {
  const manifest = join(folder, 'package.json');
  const executable = executableOf(folder, pin);
  if (executable === undefined || !existsSync(manifest) || !existsSync(executable)) return false;
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies?: Record<string, string> };
  return wantedPackages(pin).every(({ name, version }) => dependencies[name] === version);
}

/** Installs one program; undefined when it is there, else why it could not be had in one line. Says on stderr what it fetches. */
export function installPinned(folder: string, id: string, pin: Pin): string | undefined {
  if (isInstalled(folder, pin)) return undefined;
  const packages = wantedPackages(pin);
  if (packages.length === 0 || pin.executable[platform] === undefined) return `${id} is not made for ${platform}`;
  process.stderr.write(`… installing ${id} ${pin.version}\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const omitted = pin.alone === true ? ['--omit=optional'] : [];
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...omitted];
  const done = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });
  if (done.status !== 0) return `${id} could not be installed: ${(done.stderr || String(done.error)).trim().split('\n')[0]}`;
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;
  const foreign = packages.find(({ name, integrity }) => lock.packages?.[`node_modules/${name}`]?.integrity !== integrity);
  if (foreign === undefined) return isInstalled(folder, pin) ? undefined : `${id} has no executable where its pin says`;
  rmSync(folder, { recursive: true, force: true });
  return `${id}: ${foreign.name} is not what was pinned (another integrity)`;
}
