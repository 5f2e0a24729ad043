import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installedPrograms, programsOfPlatform } from './agent-programs.ts';

/** What a suite may need of the machine it runs on. */
export type Need =
  | 'git'
  | 'compiler'
  | 'root'
  | 'user-namespaces'
  | 'landlock'
  | 'keeper'
  | 'agent-programs'
  | 'bubblewrap'
  | 'docker'
  | 'ssh-server'
  | 'cluster';

/** What this machine has. Text is a version or a path; undefined means it is not there. */
export type Machine = {
  platform: string;
  node: string;
  root: boolean;
  /** Whether an unprivileged-style user namespace can be made. */
  userNamespaces: boolean;
  /** The keeper binary that suites use: built, else committed. */
  keeper: string | undefined;
  /** Landlock's ABI number as the keeper's probe reports it; undefined without a keeper. */
  landlock: number | undefined;
  compiler: string | undefined;
  git: string | undefined;
  bubblewrap: string | undefined;
  /** The Docker engine's program: tests start one of their own. */
  docker: string | undefined;
  sshServer: string | undefined;
  /** The recipe of a test cluster beside this checkout, where kubectl is installed too. */
  cluster: string | undefined;
  /** Harnesses whose pinned agent program lies in `.tools/programs`. */
  programs: readonly string[];
};

const root = dirname(import.meta.dirname);

/** The first line a program answers with, or undefined when it is absent or fails. */
function firstLine(command: string, args: readonly string[]): string | undefined {
  const asked = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000 });
  return asked.status === 0 ? (asked.stdout.split('\n')[0] ?? '').trim() : undefined;
}

/** The keeper binary of this checkout: what the bootstrap built, else the committed one for this platform. */
function findKeeper(): string | undefined {
  const places = ['build/orrery-keeper', `prebuilt/orrery-keeper-${process.platform}-${process.arch}`];
  return places.map((place) => join(root, 'native', place)).find((file) => existsSync(file));
}

/** Asks the keeper what the kernel gives: its probe prints one JSON object. Undefined without a keeper that answers. */
function landlockAbi(keeper: string | undefined): number | undefined {
  const line = keeper === undefined ? undefined : firstLine(keeper, ['probe']);
  if (line === undefined) return undefined;
  const { kernel } = JSON.parse(line) as { kernel?: { landlockAbi?: number } };
  return kernel?.landlockAbi;
}

/** The folder of scripts that start and stop a real cluster: `$ORRERY_TEST_LAB`, else `shared/lab` beside the checkout. */
export function clusterRecipe(checkout: string): string | undefined {
  const lab = process.env.ORRERY_TEST_LAB ?? join(dirname(checkout), 'shared', 'lab');
  const folder = join(lab, 'kubernetes');
  return existsSync(join(folder, 'up.sh')) ? folder : undefined;
}

/** Looks at the machine: a few short processes, about 50 ms. */
export function probeMachine(): Machine {
  const keeper = findKeeper();
  return {
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    root: process.getuid?.() === 0,
    userNamespaces: firstLine('unshare', ['--user', '--map-root-user', 'true']) !== undefined,
    keeper,
    landlock: landlockAbi(keeper),
    compiler: [process.env.CC, 'cc', 'gcc', 'clang'].find(
      (name) => name !== undefined && firstLine(name, ['--version']) !== undefined,
    ),
    git: firstLine('git', ['--version']),
    bubblewrap: firstLine('bwrap', ['--version']),
    docker: firstLine('dockerd', ['--version']),
    sshServer: ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) => existsSync(file)),
    cluster: firstLine('kubectl', ['version', '--client']) === undefined ? undefined : clusterRecipe(root),
    programs: installedPrograms(),
  };
}

/**
 * The machine as `tools/test.ts` found it (it hands the facts to the suites it starts), else as it is found now.
 * Suites use it to skip what cannot run: `describe.skipIf(lacks(machine(), ['root']).length > 0)`.
 */
export function machine(): Machine {
  const given = process.env.ORRERY_TEST_MACHINE;
  return given === undefined ? probeMachine() : (JSON.parse(given) as Machine);
}

const ANSWERS: Record<Need, { has: (found: Machine) => boolean; fix: string }> = {
  git: { has: ({ git }) => git !== undefined, fix: 'git is not installed (Debian: apt-get install git)' },
  compiler: { has: ({ compiler }) => compiler !== undefined, fix: 'no C compiler (Debian: apt-get install gcc libc6-dev)' },
  bubblewrap: {
    has: ({ bubblewrap }) => bubblewrap !== undefined,
    fix: 'bwrap is not installed: its backend is not tested (Debian: apt-get install bubblewrap)',
  },
  docker: {
    has: ({ docker }) => docker !== undefined,
    fix: 'dockerd is not installed: the docker backend is not tested (Debian: apt-get install docker.io iptables)',
  },
  cluster: {
    has: ({ cluster }) => cluster !== undefined,
    fix: 'no recipe for a real cluster (shared/lab beside the checkout, or ORRERY_TEST_LAB) or no kubectl: pods are not tested',
  },
  'ssh-server': {
    has: ({ sshServer }) => sshServer !== undefined,
    fix: 'sshd is not installed: the ssh backend is not tested (Debian: apt-get install openssh-server)',
  },
  root: { has: (found) => found.root, fix: 'not root: what only root can set up is not tested (sudo npm test)' },
  'user-namespaces': {
    has: ({ userNamespaces }) => userNamespaces,
    fix: 'no user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)',
  },
  landlock: {
    has: ({ landlock }) => (landlock ?? 0) > 0,
    fix: 'the keeper reports no Landlock (kernel 5.13 or later, landlock in the lsm= list)',
  },
  'agent-programs': {
    has: ({ programs }) => programsOfPlatform().every((id) => programs.includes(id)),
    fix: 'not every agent program is installed (node tools/agent-programs.ts; needs the npm registry)',
  },
  keeper: { has: ({ keeper }) => keeper !== undefined, fix: 'no keeper binary (npm test builds it when there is a compiler)' },
};

/** Which of the needs the machine lacks, each as a sentence with its fix; empty when a suite can run. */
export function lacks(found: Machine, needs: readonly Need[]): string[] {
  return needs.filter((need) => !ANSWERS[need].has(found)).map((need) => ANSWERS[need].fix);
}

/** Everything a machine with all suites has. */
export const NEEDS = Object.keys(ANSWERS) as Need[];
