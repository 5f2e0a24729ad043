// Glossary. A trick is something an agent can write into its checkout so that a Git command of someone else runs its
// program. The program makes the marker file: a marker that exists means that the trick worked.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, writeFiles } from './git-shapes.ts';

/** Plants one trick in a checkout whose `.git` the agent may write. */
export type GitTrick = (tree: string, marker: string) => void;

const hookNames = [
  'pre-commit',
  'post-commit',
  'post-checkout',
  'post-merge',
  'post-index-change',
  'reference-transaction',
  'pre-auto-gc',
  'pre-push',
  'pre-receive',
  'update',
  'post-update',
  'fsmonitor-watchman',
  'post-rewrite',
  'proc-receive',
];

const runs = (marker: string): string => `touch '${marker}'; false`;
const config = (tree: string, key: string, value: string): string => gitIn(tree, 'config', key, value);

const plantHooks = (folder: string, marker: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const name of hookNames) {
    writeFileSync(join(folder, name), `#!/bin/sh\ntouch '${marker}'\n`);
    chmodSync(join(folder, name), 0o755);
  }
};

/** Every trick by name. */
export const gitTricks = {
  fsmonitor: (tree, marker) => config(tree, 'core.fsmonitor', runs(marker)),
  cleanFilter: (tree, marker) => {
    config(tree, 'filter.evil.clean', runs(marker));
    config(tree, 'filter.evil.smudge', runs(marker));
    config(tree, 'filter.evil.process', runs(marker));
    config(tree, 'filter.evil.required', 'true');
    writeFiles(tree, { '.gitattributes': '* filter=evil\n', 'filtered.txt': 'filtered\n' });
  },
  hooks: (tree, marker) => plantHooks(join(tree, '.git/hooks'), marker),
  hooksPath: (tree, marker) => {
    plantHooks(join(tree, 'my-hooks'), marker);
    config(tree, 'core.hooksPath', join(tree, 'my-hooks'));
  },
  aliases: (tree, marker) => {
    for (const name of ['status', 'diff-files', 'ls-files', 'update-index', 'write-tree', 'st'])
      config(tree, `alias.${name}`, `!${runs(marker)}`);
  },
  externalDiff: (tree, marker) => {
    config(tree, 'diff.external', runs(marker));
    config(tree, 'diff.evil.textconv', runs(marker));
    config(tree, 'diff.evil.command', runs(marker));
    writeFiles(tree, { '.gitattributes': '* diff=evil merge=evil\n' });
    config(tree, 'merge.evil.driver', runs(marker));
  },
  programs: (tree, marker) => {
    for (const key of [
      'core.pager',
      'core.editor',
      'core.sshCommand',
      'core.askPass',
      'core.gitProxy',
      'gpg.program',
      'credential.helper',
      'core.alternateRefsCommand',
      'uploadpack.packObjectsHook',
      'sequence.editor',
    ]) {
      config(tree, key, key === 'credential.helper' ? `!${runs(marker)}` : runs(marker));
    }
    config(tree, 'commit.gpgSign', 'true');
  },
  includePath: (tree, marker) => {
    writeFiles(tree, { 'more.config': `[core]\n\tfsmonitor = "touch '${marker}'; false"\n` });
    config(tree, 'include.path', '../more.config');
  },
  nestedRepository: (tree, marker) => {
    const nested = join(tree, 'nested');
    mkdirSync(nested);
    gitIn(nested, 'init', '-q');
    writeFiles(nested, { 'inner.txt': 'inner\n' });
    gitIn(nested, 'add', '-A');
    gitIn(nested, 'commit', '-q', '-m', 'inner');
    config(nested, 'core.fsmonitor', runs(marker));
    plantHooks(join(nested, '.git/hooks'), marker);
    writeFiles(nested, { 'inner.txt': 'inner changed\n' });
  },
  submoduleLink: (tree, marker) => {
    const nested = join(tree, 'linked');
    mkdirSync(nested);
    gitIn(nested, 'init', '-q');
    gitIn(nested, 'commit', '-q', '--allow-empty', '-m', 'inner');
    gitIn(tree, 'add', 'linked');
    gitIn(tree, 'commit', '-q', '-m', 'a link to a nested repository');
    config(nested, 'core.fsmonitor', runs(marker));
    writeFiles(nested, { 'dirty.txt': 'dirty\n' });
  },
} as const satisfies Record<string, GitTrick>;

export type GitTrickName = keyof typeof gitTricks;

/** Whether a planted program ran. */
export const trickWorked = (marker: string): boolean => existsSync(marker);
