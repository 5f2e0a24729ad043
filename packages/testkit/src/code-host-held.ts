// What the code host for tests holds.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export type TestPull = {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed';
  mergedAt: string | null;
};

/** A run of a check, or a status that a service set. */
export type TestCheck = { readonly name: string; readonly kind: 'run' | 'status'; readonly conclusion: string | null };

export type Held = {
  readonly root: string;
  readonly pulls: Map<string, TestPull[]>;
  /** By repository and commit. */
  readonly checks: Map<string, TestCheck[]>;
  readonly protectedBy: Map<string, string>;
  readonly origin: () => string;
};

/** What is answered. */
export type Answer = { readonly status: number; readonly body: unknown };

/** Asks a bare repository. */
export const gitOf = (root: string, repository: string, ...args: string[]): string =>
  execFileSync('git', ['--git-dir', join(root, `${repository}.git`), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** What a branch names; null: it is not there. */
export const commitOf = (root: string, repository: string, branch: string): string | null => {
  try {
    return gitOf(root, repository, 'rev-parse', '--verify', `refs/heads/${branch}`);
  } catch {
    return null;
  }
};
