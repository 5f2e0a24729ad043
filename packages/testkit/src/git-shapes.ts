// Glossary. A shape is a real Git repository in one of the states that people's repositories are in. All are made with
// Git itself, in a folder of the test, without any configuration of the machine.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A repository of a test. */
export type Shape = {
  /** What a person would give as the project's path. */
  readonly path: string;
  /** The root of the work tree (or of the bare repository). */
  readonly root: string;
};

const environment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_ALLOW_PROTOCOL: 'file',
};

/** Runs Git in a folder as the person (or the agent) whose repository it is. Answers stdout without the last newline. */
export const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'gc.auto=0', ...args], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  })
    .toString('utf8')
    .replace(/\n$/, '');

/** Writes files below a folder; a `null` content is left out. */
export const writeFiles = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), contents);
  }
};

/** Commits everything in a work tree; answers the commit. */
export const commitAll = (folder: string, message: string): string => {
  gitIn(folder, 'add', '-A');
  gitIn(folder, 'commit', '-q', '--allow-empty', '-m', message);
  return gitIn(folder, 'rev-parse', 'HEAD');
};

const initAt = (root: string, ...options: string[]): Shape => {
  mkdirSync(root, { recursive: true });
  gitIn(
    root,
    'init',
    '-q',
    ...(options.some((option) => option.startsWith('--initial-branch')) ? [] : ['--initial-branch=main']),
    ...options,
  );
  return { path: root, root };
};

/** A plain repository: three files, one of them executable, an ignore file, one commit on `main`. */
export const plainRepository = (
  folder: string,
  { name = 'plain', branch = 'main' }: { name?: string; branch?: string } = {},
): Shape => {
  const shape = initAt(join(folder, name), `--initial-branch=${branch}`);
  writeFiles(shape.root, {
    'README.md': '# plain\n',
    'src/main.txt': 'one\ntwo\nthree\n',
    'run.sh': '#!/bin/sh\necho hi\n',
    '.gitignore': 'build/\n*.log\n',
  });
  chmodSync(join(shape.root, 'run.sh'), 0o755);
  commitAll(shape.root, 'first');
  return shape;
};

/** A repository of `count` small files in folders of a hundred. */
export const largeRepository = (folder: string, count: number): Shape => {
  const shape = initAt(join(folder, 'large'));
  for (let at = 0; at < count; at++) {
    const into = join(shape.root, `d${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(into);
    writeFileSync(join(into, `f${at}.txt`), `file ${at}\n${'x'.repeat(at % 500)}\n`);
  }
  commitAll(shape.root, 'many');
  return shape;
};

/** Every shape by name; each makes itself in an empty folder of its own. */
export const gitShapes = {
  plain: (folder: string) => plainRepository(folder),
  noCommits: (folder: string) => initAt(join(folder, 'no-commits')),
  emptyFirstCommit: (folder: string) => {
    const shape = initAt(join(folder, 'empty-first'));
    commitAll(shape.root, 'empty');
    return shape;
  },
  detachedHead: (folder: string) => {
    const shape = plainRepository(folder, { name: 'detached' });
    gitIn(shape.root, 'checkout', '-q', '--detach');
    writeFiles(shape.root, { 'detached.txt': 'only here\n' });
    commitAll(shape.root, 'on no branch');
    return shape;
  },
  otherDefaultBranch: (folder: string) => plainRepository(folder, { name: 'other-branch', branch: 'trunk' }),
  dirtyTree: (folder: string) => {
    const shape = plainRepository(folder, { name: 'dirty' });
    writeFiles(shape.root, { 'src/main.txt': 'changed\n', 'new.txt': 'new\n' });
    return shape;
  },
  submodules: (folder: string) => {
    const library = plainRepository(folder, { name: 'library' });
    const shape = plainRepository(folder, { name: 'with-submodule' });
    gitIn(shape.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'vendor/library');
    commitAll(shape.root, 'submodule');
    return shape;
  },
  lfs: (folder: string) => {
    const shape = plainRepository(folder, { name: 'lfs' });
    writeFiles(shape.root, {
      'assets/.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'assets/a.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`,
    });
    commitAll(shape.root, 'pointer');
    return shape;
  },
  spacesAndUnicode: (folder: string) => {
    const shape = plainRepository(folder, { name: 'mit Leerzeichen – ünï "q" $x' });
    writeFiles(shape.root, { 'dir with space/naïve file.txt': 'x\n', 'quote"d\ttab.txt': 'y\n', '日本語.txt': 'z\n' });
    commitAll(shape.root, 'names');
    return shape;
  },
  symlinkedCheckout: (folder: string) => {
    const { root } = plainRepository(folder, { name: 'real' });
    const path = join(folder, 'link');
    symlinkSync(root, path);
    return { path, root };
  },
  subfolder: (folder: string) => {
    const { root } = plainRepository(folder, { name: 'outer' });
    return { path: join(root, 'src'), root };
  },
  linkedWorktree: (folder: string) => {
    const { root } = plainRepository(folder, { name: 'primary' });
    const path = join(folder, 'linked');
    gitIn(root, 'worktree', 'add', '-q', '-b', 'feature/linked', path);
    return { path, root: path };
  },
  emptyRemoteUrl: (folder: string) => {
    const shape = plainRepository(folder, { name: 'empty-remote' });
    gitIn(shape.root, 'config', 'remote.origin.url', '');
    gitIn(shape.root, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
    return shape;
  },
  slashBranch: (folder: string) => {
    const shape = plainRepository(folder, { name: 'slash' });
    gitIn(shape.root, 'checkout', '-q', '-b', 'team/feature/one');
    return shape;
  },
  branchElsewhere: (folder: string) => {
    const shape = plainRepository(folder, { name: 'elsewhere' });
    gitIn(shape.root, 'worktree', 'add', '-q', '-b', 'busy', join(folder, 'second'));
    return shape;
  },
  shallowClone: (folder: string) => {
    const source = plainRepository(folder, { name: 'deep' });
    writeFiles(source.root, { 'more.txt': 'more\n' });
    commitAll(source.root, 'second');
    const root = join(folder, 'shallow');
    gitIn(folder, 'clone', '-q', '--depth', '1', `file://${source.root}`, root);
    return { path: root, root };
  },
  bare: (folder: string) => {
    const source = plainRepository(folder, { name: 'source' });
    const root = join(folder, 'bare.git');
    gitIn(folder, 'clone', '-q', '--bare', source.root, root);
    return { path: root, root };
  },
  sha256: (folder: string) => {
    const shape = initAt(join(folder, 'sha256'), '--object-format=sha256');
    commitAll(shape.root, 'long names');
    return shape;
  },
  partialClone: (folder: string) => {
    const source = plainRepository(folder, { name: 'whole' });
    gitIn(source.root, 'config', 'uploadpack.allowFilter', 'true');
    const root = join(folder, 'partial');
    gitIn(folder, 'clone', '-q', '--filter=blob:none', `file://${source.root}`, root);
    return { path: root, root };
  },
} as const satisfies Record<string, (folder: string) => Shape>;

export type ShapeName = keyof typeof gitShapes;
