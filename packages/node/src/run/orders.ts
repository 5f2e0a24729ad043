// What a checkout brings for an agent program to run by itself, unasked, where the program has no switch that holds against it.

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import type { Harness } from '../harness/harness.ts';
import type { ConductorParts } from './doors.ts';

/** Which of these paths are there. No link is followed: a path that leads through one counts as there. Looks at nothing else. */
const foundIn = async (checkout: string, orders: readonly string[]): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const path of orders) if (await isThere(checkout, path.split('/'))) found.push(path);
  return found;
};

const isThere = async (checkout: string, parts: readonly string[]): Promise<boolean> => {
  for (let depth = 1; depth <= parts.length; depth++) {
    const seen = await lstat(join(checkout, ...parts.slice(0, depth))).catch(whenMissing);
    if (seen === null) return false;
    if (seen.isSymbolicLink()) return true;
  }
  return true;
};

/** Anything but "it is not there" is no answer, and then nothing starts. */
const whenMissing = (thrown: unknown): null => {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw thrown;
};

/**
 * Before a program starts in a checkout of a project: refuses one that would run code of the repository unasked, unless the
 * operator trusts the project. Rejects with `refused_by_policy`, which names the paths.
 */
export const refuseOrders = async (
  parts: Pick<ConductorParts, 'trustedProject'>,
  given: { readonly harness: Harness; readonly projectId: string | null; readonly checkout: string },
): Promise<void> => {
  const { harness, projectId, checkout } = given;
  if (harness.orders === undefined || projectId === null) return;
  const found = await foundIn(checkout, harness.orders);
  if (found.length === 0) return;
  const { trusted, name } = await parts.trustedProject(projectId);
  if (trusted) return;
  throw new OrreryError('refused_by_policy', `The harness ${harness.id} runs what this checkout brings: ${found.join(', ')}.`, {
    rule: 'What a repository brings for an agent program to run by itself runs in projects alone that the operator trusts.',
    fix: `Take another harness, or add "${name}" to execution.trustedProjects of the node: orrery config path`,
    details: { paths: found },
  });
};
