import { existsSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoctorReport } from '@orrery/protocol';
import { listNamed, openEnvironments } from '../environment/index.ts';
import type { HarnessPrograms } from '../harness/install.ts';
import type { HarnessRegistry } from '../harness/registry.ts';
import type { Clock } from '../kernel/clock.ts';
import { toInstant } from '../kernel/clock.ts';
import { FREE_DISK_BYTES } from '../kernel/limits.ts';
import type { Config } from '../config/config.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Policies } from '../policy/index.ts';
import type { Store } from '../store/store.ts';
import type { Archives, Workspace } from '../workspace/index.ts';
import type { Backends } from './backends.ts';
import { codehostLines } from './doctor-codehosts.ts';
import { backendLines, backendsInUse } from './doctor-backends.ts';
import type { NodeState } from './node-state.ts';

type Line = DoctorReport['lines'][number];

/** What `orrery doctor` looks at. */
export type DoctorParts = {
  readonly store: Store;
  readonly config: Config;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly backends: Backends;
  readonly harnesses: HarnessRegistry;
  readonly programs: HarnessPrograms;
  readonly workspace: Workspace;
  readonly archives: Pick<Archives, 'list'>;
  readonly dataDirectory: string;
  readonly environmentsDirectory: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly state: Pick<NodeState, 'needRestart'>;
  readonly policies: Pick<Policies, 'files'>;
};

/** Looks at everything a node stands on. Reads only. */
export const examine = async (parts: DoctorParts): Promise<DoctorReport> => {
  const checks = [
    configLines,
    policyLines,
    usedBackendLines,
    harnessLines,
    codehostLines,
    diskLines,
    leftoverLines,
    survivalLines,
  ];
  const lines = (await Promise.all(checks.map((check) => check(parts)))).flat();
  return { lines, checkedAt: toInstant(parts.clock.nowMs()) };
};

/** What can be looked at while no node runs: everything but the store. */
export type MachineParts = Omit<
  DoctorParts,
  'store' | 'workspace' | 'archives' | 'secrets' | 'environmentsDirectory' | 'clock' | 'state' | 'policies'
>;

/** The same for a machine on which no node runs. Reads only; takes no lock, so that a node may be started meanwhile. */
export const examineMachine = async (parts: MachineParts): Promise<Line[]> => {
  const lines = await Promise.all([
    configLines({ config: parts.config, state: { needRestart: [] } }),
    backendLines(parts, new Set()),
    harnessLines(parts),
    existsSync(parts.dataDirectory)
      ? roomLine(parts.dataDirectory)
      : ok('disk', `${parts.dataDirectory} is not there yet; the node makes it.`),
    survivingLines(parts.dataDirectory),
  ]);
  return lines.flat();
};

/** Programs that a node left and that run on: the next node finds them again. */
const survivingLines = async (dataDirectory: string): Promise<Line[]> => {
  const count = (await environmentNames(join(dataDirectory, 'environments'))).length;
  return count === 0 ? [] : [ok('environments', `${count} were open when the node ended; the next node settles them.`)];
};

const environmentNames = async (directory: string): Promise<string[]> =>
  (await readdir(directory).catch(() => [])).filter((name) => name.startsWith('env_'));

const ok = (area: string, message: string): Line => ({ area, state: 'ok', message, fix: null });

const configLines = async ({ config, state }: Pick<DoctorParts, 'config' | 'state'>): Promise<Line[]> => {
  if (state.needRestart.length > 0)
    return [
      {
        area: 'configuration',
        state: 'warning',
        message: `Changed, but in force only after a restart: ${state.needRestart.join(', ')}.`,
        fix: 'orrery down && orrery up --detach',
      },
    ];
  const problem = config.problem();
  if (problem === null) return [ok('configuration', 'The configuration is in force as it is written.')];
  return [{ area: 'configuration', state: 'problem', message: `${problem.message} The last good one holds.`, fix: problem.fix }];
};

/** The operator's policies; those of projects are looked at with `orrery policy list`. */
const policyLines = async ({ policies }: Pick<DoctorParts, 'policies'>): Promise<Line[]> => {
  const files = await policies.files();
  const broken = files.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  if (broken.length > 0)
    return broken.map(({ message, fix }) => ({
      ...{ area: 'policies', state: 'problem', fix },
      message: `${message} Until it is mended, everything is asked.`,
    }));
  const rules = files.reduce((sum, file) => sum + file.rules.length, 0);
  return rules === 0 ? [] : [ok('policies', `${rules} rules in ${files.length} files: orrery policy list`)];
};

const usedBackendLines = async (parts: DoctorParts): Promise<Line[]> => backendLines(parts, await backendsInUse(parts.store));

const harnessLines = async ({
  harnesses,
  programs,
  config,
}: Pick<DoctorParts, 'harnesses' | 'programs' | 'config'>): Promise<Line[]> => {
  const standard = config.current().harness;
  // Whoever chose one means to use it; the usual one may never be needed.
  const chosen = config.explain('harness').origin !== 'default';
  const lines = harnesses.list
    .filter(({ pin }) => pin !== null)
    .map(async ({ id, pin }): Promise<Line> => {
      const installed = await programs.installed(id);
      const area = `harness ${id}`;
      if (installed !== null) return ok(area, `${installed.version} is installed.`);
      return id === standard && chosen
        ? { area, state: 'warning', message: `${pin?.version ?? ''} is not installed.`, fix: `orrery harness install ${id}` }
        : ok(
            area,
            `Not installed, and only needed for tasks that ${id === standard ? 'name no other' : 'name it'}: orrery harness install ${id}`,
          );
    });
  return Promise.all(lines);
};

const diskLines = async ({ dataDirectory, workspace, archives, clock }: DoctorParts): Promise<Line[]> => {
  const room = await roomLine(dataDirectory);
  const aside = await workspace.aside();
  const lines = aside.length === 0 ? [room] : [room, ok('disk', `${aside.length} folders with ignored files are kept aside.`)];
  const kept = await archives.list();
  const oldest = kept.at(-1);
  if (oldest === undefined) return lines;
  const bytes = kept.reduce((sum, one) => sum + one.bytes, 0);
  const days = Math.floor((clock.nowMs() - oldest.savedAtMs) / 86_400_000);
  const what = `${kept.length} archives of lost places take ${megabytes(bytes)}, the oldest is ${days} days old: orrery salvage list`;
  return [...lines, ok('salvage', what)];
};

const roomLine = async (dataDirectory: string): Promise<Line> => {
  const { bavail, bsize } = await statfs(dataDirectory);
  const free = bavail * bsize;
  return free < FREE_DISK_BYTES
    ? {
        area: 'disk',
        state: 'problem',
        message: `Only ${megabytes(free)} are free: new work is refused.`,
        fix: `Free space on the disk of ${dataDirectory}`,
      }
    : ok('disk', `${megabytes(free)} are free.`);
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** Directories that match nothing the node knows. They are shown, never removed by guess. */
const leftoverLines = async ({ store, environmentsDirectory }: DoctorParts): Promise<Line[]> => {
  const names = await environmentNames(environmentsDirectory);
  const ofTasks = await store.read.selectFrom('environment').select('id').execute();
  const named = await listNamed(store.read);
  const known = new Set([...ofTasks, ...named].map(({ id }) => id));
  const unknown = names.filter((name) => !known.has(name));
  const open = await openEnvironments(store.read);
  const lines = [
    ok(
      'environments',
      `${open.length} open for tasks; ${named.length} made by name (orrery env list), ${named.filter((row) => row.open === 1).length} of them open.`,
    ),
  ];
  if (unknown.length > 0)
    lines.push({
      area: 'environments',
      state: 'warning',
      message: `${unknown.length} directories belong to no environment the node knows.`,
      fix: `ls ${join(environmentsDirectory, unknown[0] ?? '')}`,
    });
  return lines;
};

/** Whether programs outlive the node here. */
const survivalLines = async (): Promise<Line[]> => {
  if (process.pid === 1) {
    return [
      {
        area: 'survival',
        state: 'warning',
        message: 'The node is the first process of a container: when it ends, programs on this machine end with it.',
        fix: 'Run the node under an init (docker run --init).',
      },
    ];
  }
  const cgroup = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  if (!/\.service/.test(cgroup)) return [ok('survival', 'Programs outlive the node.')];
  return [
    {
      area: 'survival',
      state: 'warning',
      message: 'The node runs as a systemd service: by default its programs are ended with it.',
      fix: 'Add KillMode=process to the unit.',
    },
  ];
};
