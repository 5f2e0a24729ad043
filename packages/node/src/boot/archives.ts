import { join } from 'node:path';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createLocalTrees } from '../keeper/trees.ts';
import type { Spawner } from '../kernel/spawner.ts';
import { createArchives, type Archives } from '../workspace/index.ts';

/** Archives of lost places, where backends elsewhere put them. */
export const openArchives = (given: {
  readonly options: { readonly env: Readonly<Record<string, string | undefined>> };
  readonly paths: { readonly data: string; readonly config: string };
  readonly starter: Spawner;
}): Archives => {
  const { options, paths, starter } = given;
  const binary = (): string => findKeeperBinary({ explicit: options.env['ORRERY_KEEPER'] });
  return createArchives({
    directory: join(paths.data, 'keeper', 'salvage'),
    trees: createLocalTrees({ binary, spawner: starter }),
    ownFolders: [paths.data, paths.config],
  });
};
