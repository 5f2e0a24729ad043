import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs `look` on a temporary tree of the given files (path → text) and removes the tree again. */
export function withTree<Result>(files: Record<string, string>, look: (root: string) => Result): Result {
  const root = mkdtempSync(join(tmpdir(), 'orrery-tree-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return look(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
