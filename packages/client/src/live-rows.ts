import type { LiveText, OrreryEvent } from '@orrery/protocol';

/** A row that is being written, so far. */
export type LiveRow = Pick<LiveText, 'kind' | 'row'> & { readonly text: string };

/** What of a session is being written, as one reader sees it: the stored row takes the place of its text. */
export type LiveRows = {
  /** A piece came. */
  take(piece: LiveText): void;
  /** An event was stored: its row is no longer live; the end of a turn ends all. */
  stored(event: Pick<OrreryEvent, 'body'>): void;
  /** The connection is new: what is live comes again. */
  forget(): void;
  /** Rows that are being written, in the order in which they began. */
  rows(): readonly LiveRow[];
};

const keyOf = ({ kind, row }: { readonly kind: string; readonly row: string }): string => `${kind} ${row}`;

export const createLiveRows = (): LiveRows => {
  const rows = new Map<string, LiveRow>();
  return {
    take: ({ kind, row, at, append }) => {
      const before = at === 0 ? '' : rows.get(keyOf({ kind, row }))?.text;
      // A piece of which the beginning is missing shows nothing: the whole comes when it is stored.
      if (before === undefined || before.length !== at) return;
      rows.set(keyOf({ kind, row }), { kind, row, text: before + append });
    },
    stored: ({ body }) => {
      if (body.kind === 'turn.ended') rows.clear();
      else if ('row' in body) rows.delete(keyOf(body));
    },
    forget: () => rows.clear(),
    rows: () => [...rows.values()],
  };
};
