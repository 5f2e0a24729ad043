import { readdir } from 'node:fs/promises';
import { listNamed, openEnvironments } from '../environment/index.ts';
import { OrreryError } from '@orrery/protocol';
import type { Backend } from '../exec/backend.ts';
import { errorFields } from '../kernel/log.ts';
import type { Claim } from '../queue/index.ts';
import type { RunParts } from './doors.ts';

/** A backend that nobody can ask now is asked at the next start: what it has is left as it is, and the node starts. */
const reclaimOf = async ({ log }: RunParts, backend: Backend, live: readonly string[]): Promise<readonly string[]> => {
  try {
    return await backend.reclaim(live);
  } catch (thrown) {
    const code = thrown instanceof OrreryError ? thrown.code : null;
    if (code !== 'backend_unreachable' && code !== 'backend_unavailable') throw thrown;
    log.warn('recover.environments.unknown', { backend: backend.name, ...errorFields(thrown) });
    return [];
  }
};

/** What is not the node's own any more stays as it is, and `orrery doctor` shows it: it is no reason not to start. */
const removeLeft = async (parts: RunParts, name: string): Promise<void> => {
  try {
    await parts.removeEnvironment(name);
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || thrown.code !== 'path_refused') throw thrown;
    parts.log.warn('recover.directory.left', { environment: name, ...errorFields(thrown) });
  }
};

/**
 * Gives back what a dead node left and no live task names: environments that were opened for attempts that have ended,
 * their tokens and directories, and checkouts. Work in them is saved before anything goes. Repeatable.
 */
export const reclaimLeftovers = async (parts: RunParts, live: readonly Claim[]): Promise<void> => {
  const named = await listNamed(parts.store.read);
  const namedIds = named.map(({ id }) => id);
  const liveTasks = live.map(({ taskId }) => taskId);
  const open = await openEnvironments(parts.store.read);
  const liveEnvironments = open.filter(({ task_id }) => liveTasks.includes(task_id)).map(({ id }) => id);
  for (const backend of parts.backends()) {
    // One that is being opened is opened anew: nothing of it was used yet.
    const openNamed = named.filter((row) => row.open === 1).map(({ id }) => id);
    const ended = await reclaimOf(parts, backend, [...liveEnvironments, ...openNamed]);
    if (ended.length > 0) parts.log.warn('recover.environments.ended', { backend: backend.name, count: ended.length });
  }
  await parts.workspace.recover([...liveTasks, ...namedIds]);
  for (const name of await readdir(parts.environmentsDirectory).catch(() => [])) {
    if (liveEnvironments.includes(name) || namedIds.includes(name)) continue;
    await parts.tokens.end(name);
    await removeLeft(parts, name);
  }
};
