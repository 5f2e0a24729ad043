import type { NodePruned } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { listNamed, openEnvironments } from '../environment/index.ts';
import type { Store } from '../store/store.ts';
import type { Backends } from './backends.ts';

/** Environments that somebody works in, or can go on with. */
const liveIds = async (store: Store): Promise<readonly string[]> => {
  const named = (await listNamed(store.read)).filter(({ open }) => open === 1);
  return [...(await openEnvironments(store.read)), ...named].map(({ id }) => id);
};

/** Removes what this installation left on every backend that can be asked, or only names it; says of the others why not. */
export const pruneBackends = async ({
  store,
  backends,
  dryRun,
}: {
  readonly store: Store;
  readonly backends: Backends;
  readonly dryRun: boolean;
}): Promise<NodePruned> => {
  const known = async (): Promise<string[]> => (await listNamed(store.read)).map(({ id }) => id);
  const items: NodePruned['items'] = [];
  for (const backend of backends.all()) {
    if (backend.prune === undefined) continue;
    try {
      const removed = await backend.prune({ live: () => liveIds(store), known, dryRun });
      items.push({ backend: backend.name, removed: [...removed], problem: null });
    } catch (thrown) {
      if (!(thrown instanceof OrreryError)) throw thrown;
      items.push({ backend: backend.name, removed: [], problem: toOrreryError(thrown).message });
    }
  }
  return { items };
};
