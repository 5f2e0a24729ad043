// The pinned agent programs for suites that run them, in `.tools/programs/<harness>`: `node tools/agent-programs.ts`
// installs what is missing or of another version. The pins are those of the product.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudePin } from '../packages/node/src/harness/claude/pin.ts';
import { codexPin } from '../packages/node/src/harness/codex/pin.ts';
import type { ProgramPin } from '../packages/node/src/harness/harness.ts';
import { piPin } from '../packages/node/src/harness/pi/pin.ts';

/** Where the programs are: below each harness's name its own node_modules. */
export const PROGRAMS_FOLDER = join(dirname(import.meta.dirname), '.tools', 'programs');

/** The pins of the product, by harness. */
export const PINS: Readonly<Record<string, ProgramPin>> = { pi: piPin, claude: claudePin, codex: codexPin };

const platform = `${process.platform}-${process.arch}`;

type Lock = { packages?: Record<string, { integrity?: string }> };

function wantedPackages(pin: ProgramPin): ProgramPin['packages'] {
  return pin.packages.filter(({ platforms }) => platforms.includes(platform));
}

/** Whether exactly the pinned packages lie in the folder: the manifest asks for them and the executable is there. */
function isInstalled(folder: string, pin: ProgramPin): boolean {
  const manifest = join(folder, 'package.json');
  const executable = pin.executable[platform];
  if (executable === undefined || !existsSync(manifest) || !existsSync(join(folder, executable))) return false;
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies?: Record<string, string> };
  return wantedPackages(pin).every(({ name, version }) => dependencies[name] === version);
}

/** Installs one program; undefined when it is there, else why it could not be had in one line. */
function install(id: string, pin: ProgramPin): string | undefined {
  const folder = join(PROGRAMS_FOLDER, id);
  if (isInstalled(folder, pin)) return undefined;
  const packages = wantedPackages(pin);
  if (packages.length === 0 || pin.executable[platform] === undefined) return `${id} is not made for ${platform}`;
  process.stdout.write(`… installing the agent program ${id} ${pin.version}\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  const done = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });
  if (done.status !== 0) return `${id} could not be installed: ${(done.stderr || String(done.error)).trim().split('\n')[0]}`;
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;
  const foreign = packages.find(({ name, integrity }) => lock.packages?.[`node_modules/${name}`]?.integrity !== integrity);
  if (foreign === undefined) return isInstalled(folder, pin) ? undefined : `${id} has no executable where its pin says`;
  rmSync(folder, { recursive: true, force: true });
  return `${id}: ${foreign.name} is not what was pinned (another integrity)`;
}

/** Installs every pinned program that is missing. Returns why each of the others could not be had; empty is all of them. */
export function installPrograms(): string[] {
  return Object.entries(PINS).flatMap(([id, pin]) => install(id, pin) ?? []);
}

/** The harnesses whose pinned program is installed here. */
export function installedPrograms(): string[] {
  return Object.entries(PINS).flatMap(([id, pin]) => (isInstalled(join(PROGRAMS_FOLDER, id), pin) ? [id] : []));
}

if (import.meta.main) {
  const problems = installPrograms();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`installed in .tools/programs: ${installedPrograms().join(', ') || 'nothing'}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
