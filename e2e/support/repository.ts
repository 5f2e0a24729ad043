import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, gitIn, plainRepository, writeFiles } from '@orrery/testkit';
import type { Place } from './place.ts';

/** The scripts of a repository, by hook; each is the body of a `sh` script. */
export type Hooks = Partial<Record<'init' | 'before' | 'validation' | 'after', string>>;

/** Makes a repository with hooks, and the text of its project file, in a place; answers its path. */
export const makeRepository = (
  place: Place,
  name: string,
  { settings, ...hooks }: Hooks & { settings?: string } = {},
): string => {
  const { root } = plainRepository(join(place.folder, 'repositories'), { name });
  for (const [hook, body] of Object.entries(hooks)) {
    const path = `.orrery/hooks/${hook}.sh`;
    writeFiles(root, { [path]: `#!/bin/sh\n${body}\n` });
    chmodSync(join(root, path), 0o755);
  }
  if (settings !== undefined) writeFiles(root, { '.orrery/orrery.yaml': settings });
  commitAll(root, 'hooks');
  return root;
};

/** A file of a commit, or null when it has none. */
export const fileAt = (repository: string, commit: string, path: string): string | null => {
  try {
    return gitIn(repository, 'show', `${commit}:${path}`);
  } catch {
    return null;
  }
};
