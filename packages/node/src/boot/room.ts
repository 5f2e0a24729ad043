import { statfsSync } from 'node:fs';
import { OrreryError } from '@orrery/protocol/errors';
import { FREE_DISK_BYTES } from '../kernel/limits.ts';
import type { NodeState } from './node-state.ts';

/** Throws when no new work is taken, or there is no room for it. */
export const checkRoom = (parts: { readonly paths: { readonly data: string } }, state: NodeState): void => {
  checkTaking(state);
  checkDisk(parts.paths.data);
};

const checkTaking = ({ phase }: NodeState): void => {
  if (phase !== 'draining') return;
  throw new OrreryError('node_draining', 'The node is stopping and takes no new work.', {
    rule: 'Work that runs goes on to its end; what was taken before is kept.',
    fix: 'Start it again, then repeat the command: orrery up --detach',
  });
};

const checkDisk = (directory: string): void => {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= FREE_DISK_BYTES) return;
  throw new OrreryError('disk_full', 'The disk of the data directory is nearly full; no new work is taken.', {
    rule: `New work needs ${FREE_DISK_BYTES / 1_048_576} MiB free; work that runs goes on.`,
    fix: `Free space on the disk of ${directory}`,
  });
};
