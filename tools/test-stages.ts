import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Need } from './machine.ts';
import { listFiles } from './source.ts';

/** One stage of `npm test`. Its output is shown when it fails; a suite's is shown while it runs. */
export type Stage = {
  name: string;
  /** What it promises when it passes, in a few words. */
  promise: string;
  /** `check` counts as one test; `suite` writes a JSON report that is counted; `native` may end with a counting line. */
  kind: 'check' | 'suite' | 'native';
  /** Runs while the stages after it run, up to the end of the one that is named: it waits more than it works. */
  beside?: string;
  /** Whether its suites run agent programs: they are installed before it. */
  programs?: boolean;
  command: string;
  args: readonly string[];
  needs: readonly Need[];
  /** After this time the stage is ended and has failed. */
  limitMs: number;
  /** Why there is nothing to run, or undefined when there is. */
  absent: (root: string) => string | undefined;
};

const MINUTE = 60_000;

type Given = Pick<Stage, 'name' | 'promise' | 'command' | 'args'> & Partial<Stage>;

function stage(given: Given): Stage {
  return { kind: 'check', needs: [], limitMs: 3 * MINUTE, absent: () => undefined, ...given };
}

function suite({ config, files, ...given }: Omit<Given, 'command' | 'args'> & { config: string; files: RegExp }): Stage {
  const absent = (root: string): string | undefined =>
    listFiles(root).some((path) => files.test(path)) ? undefined : `no file matches ${files.source}`;
  return stage({ kind: 'suite', command: 'vitest', args: ['run', '--config', config], absent, ...given });
}

/** The stages in the order they run: what fails fastest comes first, but for the one that runs beside them. */
export const STAGES: readonly Stage[] = [
  stage({
    name: 'native',
    promise: 'the keeper, its sanitizer builds included',
    kind: 'native',
    beside: 'unit',
    command: 'sh',
    args: ['native/test.sh'],
    needs: ['compiler'],
    limitMs: 15 * MINUTE,
    absent: (root) => (existsSync(join(root, 'native', 'test.sh')) ? undefined : 'there is no native/test.sh'),
  }),
  stage({ name: 'format', promise: 'one format (fix: npx oxfmt)', command: 'oxfmt', args: ['--check'] }),
  stage({ name: 'lint', promise: 'no floating promise, no any, no cycle', command: 'oxlint', args: ['--type-aware'] }),
  stage({ name: 'types', promise: 'the types hold', command: 'tsc', args: ['--noEmit'] }),
  stage({ name: 'web-types', promise: 'those of the web client too', command: 'tsc', args: ['--noEmit', '-p', 'packages/web'] }),
  stage({ name: 'web', promise: 'the web client builds within its budget', command: 'node', args: ['tools/web.ts'] }),
  stage({ name: 'boundaries', promise: 'packages and rings import downward', command: 'node', args: ['tools/boundaries.ts'] }),
  stage({ name: 'tidy', promise: 'files and functions stay small', command: 'node', args: ['tools/tidy.ts'] }),
  stage({ name: 'unused', promise: 'no unused file, export or dependency', command: 'knip', args: [] }),
  suite({
    name: 'unit',
    promise: 'the fast tests',
    config: 'vitest.config.ts',
    files: /(?<!\.slow)\.test\.ts$/,
    limitMs: 6 * MINUTE,
  }),
  suite({
    name: 'slow',
    promise: 'real processes and the kernel',
    config: 'vitest.slow.config.ts',
    files: /\.slow\.test\.ts$/,
    needs: ['git'],
    programs: true,
    limitMs: 25 * MINUTE,
  }),
  suite({
    name: 'e2e',
    promise: 'a real node with real agent programs',
    config: 'vitest.e2e.config.ts',
    files: /^e2e\/.*\.test\.ts$/,
    needs: ['git', 'keeper', 'agent-programs'],
    programs: true,
    limitMs: 29 * MINUTE,
  }),
  suite({
    name: 'conversations',
    promise: 'sessions with real agent programs, and their clients',
    config: 'vitest.conversations.config.ts',
    files: /^e2e\/sessions\.test\.ts$/,
    needs: ['git', 'keeper', 'agent-programs'],
    programs: true,
    limitMs: 29 * MINUTE,
  }),
  suite({
    name: 'backends',
    promise: 'backends on real servers',
    config: 'vitest.backends.config.ts',
    files: /\.backend\.test\.ts$/,
    needs: ['git', 'keeper', 'docker', 'ssh-server'],
    limitMs: 25 * MINUTE,
  }),
  suite({
    name: 'cluster',
    promise: 'pods of a real Kubernetes',
    config: 'vitest.cluster.config.ts',
    files: /\.cluster\.test\.ts$/,
    needs: ['git', 'keeper', 'root', 'cluster'],
    limitMs: 20 * MINUTE,
  }),
];

/**
 * Tests that may be skipped even where everything is required, each with its reason. Everything else must run there.
 * A pattern is matched against `<file> <full title>`.
 */
export const MAY_SKIP: readonly { pattern: RegExp; reason: string }[] = [
  {
    pattern: /exec\/local\/contract\.slow\.test\.ts local: grants (nothing is allowed|a grant of|read-only paths)/,
    reason: 'local confines nothing; that it says so, and is open, is tested in their place',
  },
  {
    pattern: /exec\/(?!local)\w+\/.*\.test\.ts .*a directory that was not granted is open/,
    reason: 'for backends that confine nothing; that it is closed is tested in its place',
  },
  {
    pattern: /exec\/ssh\/contract\.backend\.test\.ts .*ssh as a user\b.*: limits (memory|processes: )/,
    reason: 'no control group is delegated to a plain user there; both are enforced, and tested, as root',
  },
  {
    pattern: /e2e\/preview\.test\.ts in Chromium /,
    reason: 'where no Chromium is installed; what a browser is told, and refused, is tested without one',
  },
  {
    pattern: /exec\/docker\/contract\.backend\.test\.ts .*(read-only paths inside the checkout|limits processes: )/,
    reason:
      'nothing inside a container can be made read-only, and it is told; its processes are limited together, which has a test of its own',
  },
  {
    pattern: /exec\/docker\/podman\.backend\.test\.ts /,
    reason: 'the second engine: where Podman cannot be installed, Docker’s tests say that the backend works',
  },
  {
    pattern: /exec\/docker\/contract\.backend\.test\.ts .*worker processes with shared semaphores/,
    reason: 'there is no Python in the small image of the tests',
  },
  {
    pattern:
      /exec\/kubernetes\/contract\.cluster\.test\.ts .*(read-only paths inside the checkout|limits memory|limits processes: )/,
    reason:
      'nothing inside a pod can be made read-only, and no control group be made: its memory is limited as a whole by its manifest, its processes by the cluster',
  },
  {
    pattern: /exec\/kubernetes\/contract\.cluster\.test\.ts .*worker processes with shared semaphores/,
    reason: 'there is no Python in the small image of the tests',
  },
];
