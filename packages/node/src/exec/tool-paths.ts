// The operator's tool folders (`toolPaths`): granted to every program of a confining backend, and first in its PATH.
import { join } from 'node:path';
import type { PathGrant } from './backend.ts';
import type { Disk } from './grants.ts';

/** Each folder may be read and executed; one that is missing is an error, since the operator named it. */
export const toolGrants = (paths: readonly string[]): PathGrant[] =>
  paths.map((path) => ({ path, access: 'rox', scope: 'absolute', provenance: 'environment', required: true }));

/** What stands in PATH for each: its `bin`, or itself where it has none. */
export const toolFolders = (paths: readonly string[], disk: Disk): string[] =>
  paths.map((path) => (disk.exists(join(path, 'bin')) ? join(path, 'bin') : path));
