import { OrreryError, toOrreryError, type EnvironmentPruned } from '@orrery/protocol';
import { toInstant } from '../kernel/clock.ts';
import type { NamedRow } from './model.ts';
import { listNamed } from './named-store.ts';
import type { EnvironmentParts } from './doors.ts';

/**
 * Deletes stopped environments that nobody used for so long, or only says which. One that holds work which nothing else
 * has is never taken: it is named with the reason.
 */
export const pruneEnvironments = async (
  parts: EnvironmentParts,
  { dryRun, olderThanMs, actor }: { readonly dryRun: boolean; readonly olderThanMs?: number; readonly actor: string },
  remove: (id: string) => Promise<void>,
): Promise<EnvironmentPruned> => {
  const age = olderThanMs ?? parts.keptForMs();
  if (age === null)
    throw new OrreryError('invalid_input', 'It is not said how old an environment has to be.', {
      rule: 'Without retention.environmentDays in the configuration of the node, environments are kept for ever.',
      fix: 'orrery env prune --dry-run --older-than 30d',
    });
  const untilMs = parts.clock.nowMs() - age;
  const old = (await listNamed(parts.store.read)).filter(({ used_at }) => used_at <= untilMs);
  const items: EnvironmentPruned['items'] = [];
  for (const row of old) {
    const kept =
      (await whyKept(parts, row)) ?? (dryRun ? null : await taken(() => removeOnRecord(parts, { row, actor, remove })));
    items.push({ id: row.id, name: row.name, usedAt: toInstant(row.used_at), diskBytes: row.disk_bytes, kept });
  }
  return { dryRun, olderThanMs: age, items };
};

const whyKept = async (parts: EnvironmentParts, row: NamedRow): Promise<string | null> => {
  if (row.task_id !== null || row.operation !== null) return 'something is done in it';
  if (row.open === 1) return 'it is running';
  const holder = await parts.heldBy(row.id);
  if (holder !== null) return `${holder} can be gone on with in it`;
  if (row.prepared === null) return null;
  try {
    const reasons = await parts.unsaved(row.id);
    return reasons.length === 0 ? null : `it holds ${reasons.join(', ')} that nothing else has`;
  } catch (thrown) {
    return toOrreryError(thrown).message;
  }
};

/** Takes one away, and puts on record who did and how long nobody had used it. */
const removeOnRecord = async (
  parts: EnvironmentParts,
  { row, actor, remove }: { readonly row: NamedRow; readonly actor: string; readonly remove: (id: string) => Promise<void> },
): Promise<void> => {
  const unusedMs = parts.clock.nowMs() - row.used_at;
  await remove(row.id);
  await parts.pruned({ id: row.id, name: row.name, actor, unusedMs });
};

const taken = (remove: () => Promise<void>): Promise<string | null> =>
  remove().then(
    () => null,
    (thrown: unknown) => toOrreryError(thrown).message,
  );
