import { removeOldInteractions } from '../interaction/index.ts';
import { dropUnmade } from '../run/conversation.ts';
import { createCheckpointSweep, findSession, pruneAll, removeRuns } from '../session/index.ts';
import type { Parts } from './parts.ts';

/** Projects in one page. */
const PAGE = 200;

type PruningParts = Pick<Parts, 'store' | 'projects' | 'workspace' | 'conversationsDirectory'>;

/** Makes what takes away, of the sessions that are really there, what nobody asks for any more. */
export const createSessionPruning = (
  { store, projects, workspace, conversationsDirectory }: PruningParts,
  { startedAtMs }: { readonly startedAtMs: number },
): ((beforeMs: number) => Promise<void>) => {
  const sweep = createCheckpointSweep({ store, listed: workspace.checkpoints, drop: workspace.dropCheckpoint, startedAtMs });
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
    // What this node keeps for a fork that comes to nothing, it lets go of by itself.
    const isMade = async (id: string): Promise<boolean> => (await findSession(store.read, id)) !== null;
    await dropUnmade(conversationsDirectory, { beforeMs: startedAtMs, isMade });
  };
};
