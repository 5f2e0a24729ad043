// A transcript as rows: each event is one, and a row that comes again is a newer revision of itself.

import type { OrreryEvent } from '@orrery/protocol';

export type Row = { readonly key: string; readonly event: OrreryEvent };

export type Transcript = { readonly rows: readonly Row[]; readonly newest: number };

export const emptyTranscript: Transcript = { rows: [], newest: 0 };

/** With more events, in their order. */
export const withEvents = (before: Transcript, events: readonly OrreryEvent[]): Transcript => {
  const rows = [...before.rows];
  const places = new Map(rows.map(({ key }, place) => [key, place]));
  let { newest } = before;
  for (const event of events) {
    if (event.sequence === null || event.sequence <= newest) continue;
    newest = event.sequence;
    if (!isShown(event)) continue;
    const key = keyOf(event);
    const place = places.get(key);
    if (place === undefined) places.set(key, rows.push({ key, event }) - 1);
    else rows[place] = { key, event };
  }
  return { rows, newest };
};

const keyOf = ({ sequence, body }: OrreryEvent): string =>
  'row' in body ? `${body.kind}:${body.row}` : body.kind === 'context' ? 'context' : `#${sequence}`;

/** States and bookkeeping are shown elsewhere on the page. */
const isShown = ({ body }: OrreryEvent): boolean =>
  !['state', 'turn.started', 'turn.dispatched', 'usage', 'context', 'interaction.opened'].includes(body.kind);
