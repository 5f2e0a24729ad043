// What a container holds and what it does not, and the engines that cannot build one.
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport } from '../../keeper/types.ts';
import type { EngineAbout } from './wire.ts';

const held = (guarantee: GuaranteeReport['guarantee'], by: string): GuaranteeReport => ({
  guarantee,
  held: true,
  by,
  missing: null,
});

/** What every container of this backend holds, by what. */
export const PROVIDES: readonly GuaranteeReport[] = [
  held('files', "a file system of the image's own"),
  held('network', 'a network of its own with nothing but loopback; the broker by a relay'),
  held('hosts', "no way out but the broker's proxy"),
  held('processes', 'pid and ipc namespaces, no capabilities, no new privileges, seccomp'),
  held('signals', 'pid namespace'),
  held('limits', "the container's control group"),
];

/** In plain words. */
export const CANNOT_STOP: readonly string[] = [
  'A fault of the kernel, which containers share with their machine, or of the engine, which is root on it.',
  'Whatever an image brings: its programs are as trusted as who made it.',
  'Filling the disk of the engine: it bounds the files of a container only on a few file systems, and no limit is set.',
  'A build of an image (execution.allowBuild) that passes its bound of disk between two looks at it, two seconds apart, or its bound of processes in the moment before a step gets it: the builder of the engine holds neither. Memory, processors and the size of one file it holds.',
  'Changing hooks, settings and other protected paths in its copy of the checkout: the node never runs or reads them from there.',
  'Seeing and signalling other programs of the same environment, its hooks among them.',
  'Sending data to an allowed host: names are checked, contents are not.',
  'Sockets to a hypervisor (AF_VSOCK) where the seccomp profile of the engine is an old one: the keeper refuses them to programs it confines.',
  'People who may use the engine: they see and can change every container of it.',
];

/** The same where programs work in directories of this machine (workspace: bind). */
export const BOUND_CANNOT_STOP: readonly string[] = [
  'Filling the disk of this machine: checkout and home lie there, and no limit is set.',
  'Leaving files in the checkout that belong to another user of this machine, or links that lead elsewhere here; the node follows none.',
  'Making protected paths of the checkout that are not there yet; those that are there are mounted read-only.',
];

const refuse = (message: string, fix: string): OrreryError =>
  new OrreryError('backend_unavailable', message, { rule: 'Nothing is started with weaker walls.', fix });

/** Throws `backend_unavailable` for an engine whose containers would not hold what is said of them. */
export const checkEngine = (about: EngineAbout): void => {
  if ((about.OSType ?? 'linux') !== 'linux')
    throw refuse(`The engine runs ${about.OSType} containers.`, 'Switch it to Linux containers.');
  if (!(about.SecurityOptions ?? []).some((option) => option.includes('seccomp')))
    throw refuse('The container engine has no seccomp.', 'Use a kernel and an engine with seccomp: docker info');
  if (about.MemoryLimit === false || about.PidsLimit === false)
    throw refuse(
      'The container engine cannot limit memory and processes.',
      'Give it control groups: cgroup v2 with delegation for rootless engines.',
    );
};
