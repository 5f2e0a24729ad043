// What a set-up leaves, kept for other environments of the project with the same content key.
import { readFile } from 'node:fs/promises';
import { toOrreryError } from '@orrery/protocol';
import { noteInSetupLog, setupPending, type NamedRow, type SetupRecord } from '../../environment/index.ts';
import { toInstant } from '../../kernel/clock.ts';
import { errorFields } from '../../kernel/log.ts';
import type { ConductorParts } from '../doors.ts';
import type { NamedPrepared } from './place.ts';
import { scriptsOf } from './setup.ts';
import { setupKey } from './setup-key.ts';

/** The content key of an environment as its checkout is now. */
export const keyOf = async (parts: ConductorParts, row: NamedRow, { settings, hooks, place }: NamedPrepared): Promise<string> =>
  setupKey({
    scripts: await Promise.all(scriptsOf(parts, row.id, { settings, hooks }).map(({ path }) => readFile(path))),
    tree: place.path,
    image: settings.image,
    backend: row.backend,
    cache: settings.cache,
  });

/** Takes the state of an earlier set-up into a new environment. Answers its set-up as passed, or null when there is none. */
export const takeState = async (
  parts: ConductorParts,
  row: NamedRow,
  { prepared, key }: { readonly prepared: NamedPrepared; readonly key: string },
): Promise<SetupRecord | null> => {
  const { settings, place } = prepared;
  if (settings.cache.length === 0) return null;
  const { noCache } = JSON.parse(row.intent) as { readonly noCache?: boolean };
  if (noCache === true) await parts.workspace.forgetSetup(row.project_id, key);
  const taken = await parts.workspace.takeSetup(place.checkoutId, { key, paths: settings.cache });
  if (taken === null) return null;
  const reason = `it was not run: scripts, lock files, image and backend are those of one that passed at ${toInstant(taken.madeAtMs)}, and what that left was taken`;
  await noteInSetupLog(parts.environmentsDirectory, row.id, [`set-up: ${reason}`]);
  return { ...setupPending, state: 'passed', reason, stateKey: key };
};

/** Keeps what a set-up that has just passed left, unless an agent or a copied environment may have had a hand in it. */
export const keepState = async (
  parts: ConductorParts,
  row: NamedRow,
  { prepared, key }: { readonly prepared: NamedPrepared; readonly key: string },
): Promise<void> => {
  const { settings, place } = prepared;
  if (settings.cache.length === 0 || row.forked_from !== null || (await hadTasks(parts, row.id))) return;
  const why = await parts.workspace.keepSetup(place.checkoutId, { key, paths: settings.cache }).catch((thrown: unknown) => {
    parts.log.warn('setup.keep.failed', { environment: row.id, ...errorFields(thrown) });
    return toOrreryError(thrown).message;
  });
  const said = why === null ? 'what the set-up left is kept for others' : `what the set-up left is not kept for others: ${why}`;
  await noteInSetupLog(parts.environmentsDirectory, row.id, [said]);
};

const hadTasks = async ({ store }: ConductorParts, id: string): Promise<boolean> =>
  (await store.read.selectFrom('task').select('id').where('environment_id', '=', id).limit(1).executeTakeFirst()) !== undefined;
