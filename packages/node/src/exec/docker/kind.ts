// Which engine it is, and what has to be said to one of them that the other knows by itself.
import { readFileSync } from 'node:fs';
import type { EngineAbout } from './wire.ts';

export type EngineKind = 'docker' | 'podman';

export const kindOf = ({ BuildahVersion }: Pick<EngineAbout, 'BuildahVersion'>): EngineKind =>
  BuildahVersion === undefined ? 'docker' : 'podman';

/** For people: `Podman 4.3.1, rootless`. */
export const describeEngine = (about: EngineAbout): string => {
  const name = kindOf(about) === 'podman' ? 'Podman' : 'Docker';
  const rootless = about.Rootless === true || (about.SecurityOptions ?? []).some((option) => option.includes('rootless'));
  return [`${name} ${about.ServerVersion ?? 'of an unknown version'}`, ...(rootless ? ['rootless'] : [])].join(', ');
};

/** A limit of this process as the kernel lists it in /proc/self/limits: the hard one, or null where there is none. */
const hardLimit = (limits: string, name: string): number | null => {
  const line = limits.split('\n').find((one) => one.startsWith(name));
  const hard = line?.slice(name.length).trim().split(/\s+/)[1];
  return hard !== undefined && /^\d+$/.test(hard) ? Number(hard) : null;
};

/** One limit of a program in a container. */
export type Ulimit = { readonly Name: string; readonly Soft: number; readonly Hard: number };

/** What the kernel says of this process and this machine. */
export type OwnLimits = {
  /** `/proc/self/limits`. */
  readonly limits: string;
  /** `/proc/sys/kernel/pid_max`. */
  readonly mostProcesses: string;
};

/**
 * Podman asks the kernel for as many open files and processes as there can be, unless it is told; where it may not raise its
 * own limits, inside another container, nothing would start. What this node has, the engine beside it has too, but for
 * processes: of those Podman gives itself no more than the machine can have.
 */
export const limitsFor = (kind: EngineKind, { limits, mostProcesses }: OwnLimits): Ulimit[] => {
  if (kind === 'docker') return [];
  const files = hardLimit(limits, 'Max open files');
  const processes = hardLimit(limits, 'Max processes');
  const most = Number(mostProcesses.trim());
  const one = (Name: string, hard: number | null): Ulimit[] => (hard === null ? [] : [{ Name, Soft: hard, Hard: hard }]);
  return [...one('nofile', files), ...one('nproc', most > 0 ? Math.min(processes ?? most, most) : processes)];
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Asks the kernel. */
export const ownLimits = (): OwnLimits => ({
  limits: textOf('/proc/self/limits'),
  mostProcesses: textOf('/proc/sys/kernel/pid_max'),
});

/** Docker turns version 6 off where a container has no network; for Podman it has to be said. */
export const sysctlsFor = (kind: EngineKind): { readonly sysctls?: Readonly<Record<string, string>> } =>
  kind === 'docker' ? {} : { sysctls: { 'net.ipv6.conf.all.disable_ipv6': '1' } };
