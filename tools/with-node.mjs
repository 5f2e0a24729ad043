// Runs a script of this repository under a Node that can: `node tools/with-node.mjs tools/test.ts --only unit`.
// Plain ESM for Node 18 and later, because it is what runs before the right Node is there. It finds or fetches a Node
// that runs TypeScript sources, installs the locked dependencies when they changed, builds the keeper when it can,
// and then becomes the script. All it says goes to stderr. `--stamp` alone accepts what `npm install` just installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wantedMajor = '24';

const say = (line) => process.stderr.write(`[orrery] ${line}\n`);

/** Ends with the three lines every error of Orrery has: what failed, the rule, the fix. */
function stop(what, rule, fix) {
  process.stderr.write(`${what}\n${rule}\n${fix}\n`);
  process.exit(1);
}

/** True for versions that run TypeScript sources without a flag (22.18, 23.6 and everything later). */
export function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
}

/** The version a Node binary reports, or undefined when there is none or it does not start. */
function versionOf(node) {
  if (!existsSync(node)) return undefined;
  const asked = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}

/** First executable file of that name on PATH. */
function onPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** The npm that called us, else the one beside this Node, else the one on PATH: a JavaScript file, run under any Node. */
function npmScript() {
  const near = join(dirname(dirname(realpathSync(process.execPath))), 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const pathNpm = onPath('npm');
  for (const file of [process.env.npm_execpath, near, pathNpm && realpathSync(pathNpm)]) {
    if (file && /npm-cli\.[cm]?js$/.test(file) && existsSync(file)) return file;
  }
  return stop(
    'No npm was found.',
    'The bootstrap installs the locked dependencies with npm 10 or later.',
    'Install Node 24 from https://nodejs.org (npm comes with it), then run the command again.',
  );
}

/** The caller's environment without what npm adds for its own script; npm_config_* and CA variables are the user's and stay. */
function childEnvironment(node) {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/i.test(name));
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH].filter(Boolean).join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path };
}

/** Runs a step with its output on our stderr and no stdin; returns whether it ended with 0. */
function step(command, args, options) {
  const done = spawnSync(command, args, { stdio: ['ignore', 2, 2], ...options });
  return done.status === 0;
}

const lockFolder = join(root, '.tools', 'bootstrap.lock');

/** Whether that process is there; a lock without a readable owner was just made and counts as held. */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Runs `change` while no other bootstrap of this checkout changes anything: two that install at once break each other.
 * The lock of a process that is gone is taken over. `change` must look again whether there is anything left to do.
 */
function alone(change) {
  mkdirSync(dirname(lockFolder), { recursive: true });
  const owner = join(lockFolder, 'pid');
  for (let waited = 0; ; waited += 1) {
    try {
      mkdirSync(lockFolder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const pid = Number(existsSync(owner) ? readFileSync(owner, 'utf8') : 0);
    if (pid > 0 && !isAlive(pid)) rmSync(lockFolder, { recursive: true, force: true });
    else if (pid === 0 && waited > 50) rmSync(lockFolder, { recursive: true, force: true });
    else {
      if (waited === 0) say(`another bootstrap is at work here${pid > 0 ? ` (process ${pid})` : ''}; waiting ...`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  writeFileSync(owner, String(process.pid));
  process.once('exit', unlock);
  const result = change();
  unlock();
  process.off('exit', unlock);
  return result;
}

function unlock() {
  rmSync(lockFolder, { recursive: true, force: true });
}

const nodeFolder = join(root, '.tools', 'node24');
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** The Node kept in .tools/node24, when it is there and runs. */
function keptNode() {
  const node = join(nodeFolder, 'node_modules', nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const version = versionOf(node);
  return version && runsTypeScript(version) ? { node, version } : undefined;
}

/** A Node that runs our sources: this one, or the one kept in .tools/node24, fetched from the npm registry when absent. */
function findNode() {
  if (runsTypeScript(process.version)) return { node: process.execPath, version: process.version };
  return keptNode() ?? alone(() => keptNode() ?? fetchNode());
}

/** Fetches the binary's package into .tools/node24 and says how long it took; stops with the fix when there is none. */
function fetchNode() {
  say(`this is Node ${process.version}; fetching Node ${wantedMajor} into .tools/node24 (about 190 MB on disk, once) ...`);
  mkdirSync(nodeFolder, { recursive: true });
  writeFileSync(join(nodeFolder, 'package.json'), `${JSON.stringify({ name: 'orrery-node', private: true })}\n`);
  const options = ['--prefix', nodeFolder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  const args = [npmScript(), 'install', ...options, `${nodePackage}@${wantedMajor}`];
  const began = Date.now();
  const fetched = step(process.execPath, args, { cwd: nodeFolder, env: childEnvironment(process.execPath) });
  const kept = fetched ? keptNode() : undefined;
  if (!kept) {
    stop(
      `Node ${wantedMajor} could not be fetched as ${nodePackage} from the npm registry.`,
      `Orrery runs on Node 22.18 or later; this is ${process.version}.`,
      'Install Node 24 from https://nodejs.org, then run the command again.',
    );
  }
  say(`Node ${kept.version} is ready (${seconds(began)})`);
  return kept;
}

const seconds = (began) => `${((Date.now() - began) / 1000).toFixed(1)} s`;

/** What node_modules was installed from; another value means it must be installed again. */
function dependencyStamp(version) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return hash.update(`\n${version} ${process.platform} ${process.arch}`).digest('hex');
}

const stampFile = join(root, 'node_modules', '.orrery-stamp');

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function installDependencies({ node, version }) {
  const stamp = dependencyStamp(version);
  const isDone = () => readStamp(stampFile) === stamp;
  if (!isDone()) alone(() => isDone() || installLocked(node, stamp));
}

function installLocked(node, stamp) {
  say('installing the locked dependencies (npm ci) ...');
  const began = Date.now();
  // Scripts stay off even when the user's own configuration turns them on: better-sqlite3 would start a compiler.
  const ok = step(node, [npmScript(), 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: root,
    env: childEnvironment(node),
  });
  if (!ok)
    stop(
      'npm ci failed; its reason is above.',
      'The dependencies are exactly those of package-lock.json.',
      'Check the network and the registry setting (npm config get registry), then run the command again.',
    );
  writeFileSync(stampFile, stamp);
  say(`dependencies are ready (${seconds(began)})`);
}

/** Every file under native/ that is source: not what was built, nor the committed binaries. */
function nativeSources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'build' || entry.name === 'prebuilt' ? [] : nativeSources(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Builds the keeper when its sources changed and a compiler is there; says when the committed binary is used instead. */
function buildKeeper(node) {
  const native = join(root, 'native');
  const script = ['build.sh', 'build.mjs'].map((name) => join(native, name)).find((file) => existsSync(file));
  if (!script) return;
  const compiler = process.env.CC ?? ['cc', 'gcc', 'clang'].find((name) => onPath(name));
  const prebuilt = join(native, 'prebuilt', `orrery-keeper-${process.platform}-${process.arch}`);
  if (process.env.ORRERY_KEEPER === 'prebuilt' || !compiler) {
    const why = compiler ? 'ORRERY_KEEPER=prebuilt' : 'no C compiler on PATH';
    if (!existsSync(prebuilt))
      stop(
        `The keeper cannot be built: ${why}.`,
        `There is no committed keeper for ${process.platform}-${process.arch} in native/prebuilt either.`,
        'Install a C compiler (Debian: apt-get install gcc libc6-dev), then run the command again.',
      );
    return say(`keeper: the committed binary of native/prebuilt (${why})`);
  }
  const hash = createHash('sha256').update(compiler);
  for (const file of nativeSources(native).sort()) hash.update(`\n${relative(native, file)}\n`).update(readFileSync(file));
  const stamp = hash.digest('hex');
  const isDone = () => readStamp(keeperStampFile) === stamp;
  if (!isDone()) alone(() => isDone() || buildWith(compiler, { node, script, stamp }));
}

const keeperStampFile = join(root, 'native', 'build', '.orrery-stamp');

function buildWith(compiler, { node, script, stamp }) {
  say(`keeper: building with ${compiler} ...`);
  const began = Date.now();
  const ok = step(script.endsWith('.mjs') ? node : 'sh', [script], {
    cwd: dirname(script),
    env: { ...childEnvironment(node), CC: compiler },
  });
  if (!ok)
    stop(
      "The keeper did not build; the compiler's reason is above.",
      'With a compiler on PATH the keeper is built from native/.',
      'Fix the compiler (Debian: apt-get install gcc libc6-dev), or set ORRERY_KEEPER=prebuilt to use the committed binary.',
    );
  mkdirSync(dirname(keeperStampFile), { recursive: true });
  writeFileSync(keeperStampFile, stamp);
  say(`keeper: built (${seconds(began)})`);
}

/** Builds the web client when its sources changed. A node without one says so; nothing else needs it. */
function buildWeb(node) {
  const script = join(root, 'tools', 'web.ts');
  if (!existsSync(script)) return;
  if (!step(node, [script, '--if-changed'], { cwd: root, env: childEnvironment(node) }))
    say('web client: it did not build; the reason is above, and the node runs without it');
}

/** Becomes the script: same stdio, signals passed on, its exit status is ours. */
function become(node, args) {
  const child = spawn(node, args, { stdio: 'inherit', env: childEnvironment(node) });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to the whole group, the script included; here it only must not end us first.
  process.on('SIGINT', () => undefined);
  child.on('error', (error) =>
    stop(
      `${node} did not start: ${error.message}`,
      'The script runs under the Node that was found.',
      'Remove the .tools folder and run the command again.',
    ),
  );
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

function main(args) {
  if (args.length === 0)
    stop('No script was named.', 'with-node.mjs runs one script of this repository.', 'node tools/with-node.mjs tools/test.ts');
  const found = findNode();
  if (args[0] === '--stamp') return writeFileSync(stampFile, dependencyStamp(found.version));
  installDependencies(found);
  buildKeeper(found.node);
  buildWeb(found.node);
  return become(found.node, args);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
