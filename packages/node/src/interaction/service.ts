import { answersGiven, OrreryError, type InteractionAnswer, type InteractionView, type PermissionMode } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Store, Tx } from '../store/store.ts';
import { askOf, toInteraction, whyNotAnswered, type InteractionRow } from './model.ts';
import { findInteraction, listInteractions, overdue, settleInteraction } from './store.ts';

/** Use cases of interactions; one transaction each. */
export type Interactions = {
  list(query: { readonly sessionId?: string; readonly all: boolean }): Promise<InteractionView[]>;
  show(id: string): Promise<InteractionView>;
  /** One answer wins. @throws OrreryError conflict for a late or stale one, invalid_input for one that is no answer to it */
  answer(id: string, asked: InteractionAnswer & { readonly by: string }): Promise<InteractionView>;
  /** Those whose time is up are settled as that: the action does not happen. */
  timeOut(): Promise<void>;
};

/** Interactions of one page. */
const PAGE = 500;

export const createInteractions = (parts: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The names of sessions by their ids. */
  sessionNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** A plan was approved: what its session may do from now on. Null: as it was, or `ask` where it was only planning. */
  goOn(tx: Tx, sessionId: string, mode: PermissionMode | null): Promise<void>;
  /** A session has something to be told. */
  wake(sessionId: string): void;
}): Interactions => {
  const { store, clock } = parts;
  const find = async (id: string): Promise<InteractionRow> => {
    const row = await findInteraction(store.read, id);
    if (row !== null) return row;
    throw new OrreryError('not_found', `There is no interaction ${id.slice(0, 200)}.`, {
      rule: 'Interactions are named by their id.',
      fix: 'orrery session interactions',
    });
  };
  const views = async (rows: readonly InteractionRow[]): Promise<InteractionView[]> => {
    const names = await parts.sessionNames([...new Set(rows.map(({ session_id }) => session_id))]);
    return rows.map((row) => toInteraction(row, names.get(row.session_id) ?? row.session_id));
  };
  const show = async (id: string): Promise<InteractionView> => {
    const [view] = await views([await find(id)]);
    if (view === undefined) throw new Error('one row gives one view');
    return view;
  };
  return {
    list: async (query) => views(await listInteractions(store.read, { ...query, limit: PAGE })),
    show,
    answer: async (id, { by, ...asked }) => {
      await find(id);
      const row = await store.transaction(async (tx) => {
        const now = await findInteraction(tx.db, id);
        if (now === null) throw new Error('an interaction is never deleted');
        const nowMs = clock.nowMs();
        const why = whyNotAnswered(now, { ...asked, nowMs });
        if (why !== null) throw why;
        const { outcome, message, mode } = asked;
        const { kind, questions } = askOf(now);
        const answers = outcome === 'answered' ? answersGiven(questions, asked.answers ?? {}) : null;
        await settleInteraction(tx, now, { outcome, by, message: message ?? null, answers, told: false, nowMs });
        if (kind === 'plan' && outcome === 'approved') await parts.goOn(tx, now.session_id, mode ?? null);
        return now;
      });
      parts.wake(row.session_id);
      return show(id);
    },
    timeOut: async () => {
      const nowMs = clock.nowMs();
      for (const row of await overdue(store.read, nowMs)) {
        await store.transaction((tx) =>
          settleInteraction(tx, row, { outcome: 'timed-out', by: null, message: null, told: false, nowMs }),
        );
        parts.wake(row.session_id);
      }
    },
  };
};
