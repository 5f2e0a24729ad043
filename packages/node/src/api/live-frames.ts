import type { LiveText } from '@orrery/protocol';
import { LIVE_BACKLOG_BYTES } from '../kernel/limits.ts';

/** A row that is being written. `epoch` changes when its text begins anew. */
export type LiveRow = Pick<LiveText, 'kind' | 'row'> & { readonly text: string; readonly epoch: number };

/** A piece of a row as a server-sent event without an id: a reader's cursor stays where it is. */
const liveFrame = (piece: LiveText): string => `event: live\ndata: ${JSON.stringify(piece)}\n\n`;

/** What one reader has seen of the rows that are being written. */
export const createShown = () => {
  let seen = new Map<string, { readonly epoch: number; readonly chars: number }>();
  return {
    /** The frames that bring the reader to what there is; a row that is gone is forgotten. */
    frames: (rows: readonly LiveRow[]): string => {
      const now: typeof seen = new Map();
      let frames = '';
      for (const { kind, row, text, epoch } of rows) {
        const full = frames.length > LIVE_BACKLOG_BYTES;
        const key = `${kind} ${row}`;
        const before = seen.get(key);
        const at = before?.epoch === epoch ? before.chars : 0;
        if (text.length > at && !full) frames += liveFrame({ kind, row, at, append: text.slice(at) });
        // What is not written now comes when the reader has taken this.
        now.set(key, { epoch, chars: full ? at : text.length });
      }
      seen = now;
      return frames;
    },
  };
};
