import { removeOldInteractions } from '../interaction/index.ts';
import { createCheckpointSweep, pruneAll, removeRuns } from '../session/index.ts';
import type { Parts } from './parts.ts';

/** Projects in one page. */
const PAGE = 200;

/** Makes what takes away, of the sessions that are really there, what nobody asks for any more. */
export const createSessionPruning = ({
  store,
  projects,
  workspace,
}: Pick<Parts, 'store' | 'projects' | 'workspace'>): ((beforeMs: number) => Promise<void>) => {
  const sweep = createCheckpointSweep({ store, listed: workspace.checkpoints, drop: workspace.dropCheckpoint });
  const projectIds = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await projects.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      ids.push(...page.items.map(({ id }) => id));
      if (page.nextCursor === null) return ids;
      cursor = page.nextCursor;
    }
  };
  return async (beforeMs) => {
    await pruneAll(store, (db, most) => removeRuns(db, { beforeMs, most }));
    await pruneAll(store, (db, most) => removeOldInteractions(db, { beforeMs, most }));
    await sweep(await projectIds());
  };
};
