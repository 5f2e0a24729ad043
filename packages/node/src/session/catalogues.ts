// Glossary. A catalogue is what a program reported of itself: models, and commands of its own. It is kept for its harness
// when a session's program reports it; reading it wakes nothing, and says where it comes from.

import type { ReportedCatalogue } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';
import type { SessionRow } from './model.ts';
import { findSession } from './store.ts';

/** A model as a program names it, without what only the node's own settings of it say. */
export type KnownModel = { readonly id: string; readonly name: string; readonly efforts: readonly string[] };
type Kept = { readonly models?: readonly KnownModel[]; readonly commands?: ReportedCatalogue['commands'] };

export type Catalogues = {
  ofHarness(harness: string): Promise<ReportedCatalogue>;
  ofSession(session: SessionRow): Promise<ReportedCatalogue>;
};

type Parts = {
  readonly store: Pick<Store, 'read'>;
  /** Its provider and pinned version. @throws OrreryError not_found */
  harness(id: string): { readonly id: string; readonly provider: string | null; readonly version: string | null };
  /** `provider/model` in two, at the first slash. */
  split(model: string, provider: string): { readonly provider: string; readonly model: string };
};

/** Makes the reading side. */
export const createCatalogues = ({ store, harness, split }: Parts): Catalogues => {
  const shown = ({ models = [], commands = [] }: Kept, provider: string): Pick<ReportedCatalogue, 'models' | 'commands'> => ({
    models: models.map(({ id, name, efforts }) => {
      const parted = split(id, provider);
      return { ...parted, id: `${parted.provider}/${parted.model}`, name, efforts: [...efforts] };
    }),
    commands: [...commands],
  });
  const none: ReportedCatalogue = { models: [], commands: [], provenance: 'none', reportedAt: null };

  const ofHarness = async (asked: string): Promise<ReportedCatalogue> => {
    const { id, provider, version } = harness(asked);
    const row = await findCatalogue(store.read, id);
    if (row === null) return none;
    const session = await findSession(store.read, row.session_id);
    const provenance = row.version !== version ? 'stale' : session?.run_id == null ? 'cached' : 'live';
    return { ...shown(JSON.parse(row.catalogue) as Kept, provider ?? ''), provenance, reportedAt: toInstant(row.reported_at) };
  };

  return {
    ofHarness,
    ofSession: async ({ catalogue, run_id: runId, harness: id, changed_at: changedAt }) => {
      const kept = JSON.parse(catalogue) as Kept;
      // A session whose program has not said anything yet shows what the program said elsewhere.
      if ((kept.models ?? []).length + (kept.commands ?? []).length === 0) {
        const { provenance, ...known } = await ofHarness(id);
        return { ...known, provenance: provenance === 'live' ? 'cached' : provenance };
      }
      const provenance = runId === null ? 'cached' : 'live';
      return { ...shown(kept, harness(id).provider ?? ''), provenance, reportedAt: toInstant(changedAt) };
    },
  };
};

const findCatalogue = async (db: Kysely<Tables>, harness: string) =>
  (await db.selectFrom('harness_catalogue').selectAll().where('harness', '=', harness).executeTakeFirst()) ?? null;

/** Keeps what a session's program reported. */
export const keepCatalogue = async (
  tx: Tx,
  row: {
    readonly harness: string;
    readonly version: string | null;
    readonly catalogue: string;
    readonly sessionId: string;
    readonly nowMs: number;
  },
): Promise<void> => {
  const { harness, version, catalogue, sessionId, nowMs } = row;
  const kept = { version, catalogue, session_id: sessionId, reported_at: nowMs };
  await tx.db
    .insertInto('harness_catalogue')
    .values({ harness, ...kept })
    .onConflict((conflict) => conflict.column('harness').doUpdateSet(kept))
    .execute();
};
