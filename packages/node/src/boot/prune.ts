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

/** Removes what this installation left on every backend that can be asked; says of the others why not. */
export const pruneBackends = async ({
  store,
  backends,
}: {
  readonly store: Store;
  readonly backends: Backends;
}): Promise<NodePruned> => {
  const items: NodePruned['items'] = [];
  for (const backend of backends.all()) {
    if (backend.prune === undefined) continue;
    try {
      const removed = await backend.prune(() => liveIds(store));
      items.push({ backend: backend.name, removed: [...removed], problem: null });
    } catch (thrown) {
      if (!(thrown instanceof OrreryError)) throw thrown;
      items.push({ backend: backend.name, removed: [], problem: toOrreryError(thrown).message });
    }
  }
  return { items };
};
