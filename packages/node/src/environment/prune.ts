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
  { dryRun, olderThanMs }: { readonly dryRun: boolean; readonly olderThanMs?: number },
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
    const kept = (await whyKept(parts, row)) ?? (dryRun ? null : await taken(() => remove(row.id)));
    items.push({ id: row.id, name: row.name, usedAt: toInstant(row.used_at), diskBytes: row.disk_bytes, kept });
  }
  return { dryRun, olderThanMs: age, items };
};

const whyKept = async (parts: EnvironmentParts, row: NamedRow): Promise<string | null> => {
  if (row.task_id !== null || row.operation !== null) return 'something is done in it';
  if (row.open === 1) return 'it is running';
  if (row.prepared === null) return null;
  try {
    const reasons = await parts.unsaved(row.id);
    return reasons.length === 0 ? null : `it holds ${reasons.join(', ')} that nothing else has`;
  } catch (thrown) {
    return toOrreryError(thrown).message;
  }
};

const taken = (remove: () => Promise<void>): Promise<string | null> =>
  remove().then(
    () => null,
    (thrown: unknown) => toOrreryError(thrown).message,
  );
