// A small image out of what this machine has, for tests that may not ask a registry.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestEngine } from './container-engine.ts';

/** Programs of the image, as far as the machine has them: a shell, the usual small tools, Git. */
const PROGRAMS =
  'bash cat chmod chown cp cut date dd diff dirname basename du echo env expr false find grep gzip head hostname id kill ln ls ' +
  'mkdir mkfifo mknod mktemp mount mv nohup od printf ps pwd readlink realpath rm rmdir sed seq setsid sh sha256sum sleep sort stat ' +
  'stty sync tail tar tee test timeout touch tr true truncate tty uname uniq wc which xargs yes git awk';

/** Only their libraries are taken along: the program itself is mounted by who needs it. */
const LIBRARIES_FOR = [process.execPath];

/** What else is of the C library: agent programs that were built long ago ask for its parts by name. */
const C_LIBRARY = ['librt.so.1', 'libpthread.so.0', 'libdl.so.2', 'libm.so.6'];

const PASSWD = 'root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n';
const GROUP = 'root:x:0:\nagent:x:1000:\n';
const LINKS = ['bin', 'lib', 'lib64', 'sbin'];

const located = (name: string): string | null => {
  const { stdout } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' });
  const path = stdout.trim();
  return path.startsWith('/') ? path : null;
};

const librariesOf = (program: string): string[] => {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' });
  return [...stdout.matchAll(/(?:=> |^\s+)(\/\S+)/gm)].map((match) => match[1]!);
};

/** Copies a file to the same place below `root`, with links in its folders followed and the file itself taken whole. */
const take = (root: string, path: string, name = basename(path)): void => {
  const folder = join(root, realpathSync(dirname(path)));
  const target = join(folder, name);
  if (existsSync(target)) return;
  mkdirSync(folder, { recursive: true });
  copyFileSync(realpathSync(path), target);
};

const makeRoot = (root: string): void => {
  for (const name of LINKS) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const name of ['etc', 'proc', 'sys', 'dev', 'root', 'home/agent', 'tmp', 'var/tmp', 'run', 'usr/share/git-core/templates'])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(root, name), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), PASSWD);
  writeFileSync(join(root, 'etc/group'), GROUP);
  for (const name of PROGRAMS.split(' ')) {
    const path = located(name);
    if (path === null) continue;
    const folder = join(root, 'usr/bin');
    mkdirSync(folder, { recursive: true });
    copyFileSync(realpathSync(path), join(folder, name));
    for (const library of librariesOf(path)) take(root, library);
  }
  for (const library of LIBRARIES_FOR.flatMap(librariesOf)) {
    take(root, library);
    if (basename(library) !== 'libc.so.6') continue;
    for (const part of C_LIBRARY.map((name) => join(dirname(library), name))) if (existsSync(part)) take(root, part);
  }
};

/** Writes the same image, with Node at /usr/bin/node, as a file that container runtimes import: an archive of `docker save`. */
export const saveSmallImage = (file: string, name: string): void => {
  const place = mkdtempSync(join(tmpdir(), 'orrery-image-'));
  const tar = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The test image was not made: ${stderr}`);
  };
  try {
    const root = join(place, 'root');
    makeRoot(root);
    copyFileSync(process.execPath, join(root, 'usr/bin/node'));
    tar('-C', root, '--owner=0', '--group=0', '-cf', join(place, 'layer.tar'), '.');
    const layer = createHash('sha256')
      .update(readFileSync(join(place, 'layer.tar')))
      .digest('hex');
    const config = {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { User: 'agent', Env: ['PATH=/usr/local/bin:/usr/bin:/bin'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    };
    writeFileSync(join(place, 'config.json'), JSON.stringify(config));
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
    writeFileSync(join(place, 'manifest.json'), JSON.stringify(manifest));
    tar('-C', place, '-cf', file, 'manifest.json', 'config.json', 'layer.tar');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

/** Makes the image `name` in `engine`, about 20 MB; its user is `agent`. */
export const importSmallImage = async (engine: TestEngine, name: string): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-image-'));
  try {
    makeRoot(root);
    const tar = spawn('tar', ['-C', root, '--owner=0', '--group=0', '-cf', '-', '.'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [repo = name, tag = 'latest'] = name.split(':');
    const changes = ['USER agent', 'ENV PATH=/usr/local/bin:/usr/bin:/bin', 'ENV LEFT_ALONE=yes'].map(
      (one) => `changes=${encodeURIComponent(one)}`,
    );
    const query = [`fromSrc=-`, `repo=${encodeURIComponent(repo)}`, `tag=${tag}`, ...changes].join('&');
    const { status, text } = await engine.ask('POST', `/images/create?${query}`, tar.stdout);
    if (status !== 200 || text.includes('"error"')) throw new Error(`The test image was not imported: ${text.slice(0, 500)}`);
    // Podman calls what it imports `latest`, whatever it was asked for.
    if (engine.kind === 'podman')
      await engine.ask('POST', `/images/${repo}:latest/tag?repo=${encodeURIComponent(repo)}&tag=${tag}`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};
