import { absoluteBytes, lookAt, type BytePath } from '../files/tree-walk.ts';
import { SNAPSHOT_BYTES, SNAPSHOT_FILES } from '../kernel/limits.ts';

/**
 * Those of changed files that are taken, and those that are too much: Git reads each whole, holes included, and the person
 * waits for it. The smallest are taken first, so that one huge file does not cost the others.
 */
export const withinSize = (
  tree: string,
  paths: readonly BytePath[],
): { readonly taken: readonly BytePath[]; readonly left: readonly BytePath[] } => {
  const sized = paths.map((path) => ({ path, bytes: lookAt(absoluteBytes(tree, path))?.size ?? 0 }));
  const all = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  if (all <= SNAPSHOT_BYTES && sized.length <= SNAPSHOT_FILES) return { taken: paths, left: [] };
  const left = new Set<BytePath>();
  let room = SNAPSHOT_BYTES;
  for (const [at, { path, bytes }] of sized.toSorted((a, b) => a.bytes - b.bytes).entries()) {
    room -= bytes;
    if (room < 0 || at >= SNAPSHOT_FILES) left.add(path);
  }
  return { taken: paths.filter((path) => !left.has(path)), left: [...left] };
};
