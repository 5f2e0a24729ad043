import type { OrreryEvent } from '@orrery/protocol';

/** Which numbers a stream counts by: the node's `seq` or a task's `sequence`. */
export type Numbering = 'seq' | 'sequence';

/** The cursor of an event in a stream; null: the event is not of that stream. */
export const cursorOf = (event: Pick<OrreryEvent, Numbering>, numbering: Numbering): number | null => event[numbering];

/** One event as a server-sent event: its cursor as the id, itself as the data. JSON has no line breaks. */
export const eventFrame = (cursor: number | null, json: string): string => `id: ${cursor}\ndata: ${json}\n\n`;

/** The first frame of a stream, or the one that says that the cursor cannot be used: reading goes on after `after`. */
export const cursorFrame = (kind: 'hello' | 'reset', cursor: { readonly after: number; readonly seq: number }): string =>
  `event: ${kind}\ndata: ${JSON.stringify(cursor)}\n\n`;

/** A line that readers skip. */
export const commentFrame = (text: string): string => `: ${text}\n\n`;

/** The events of one commit, each written as a frame at most once, whoever reads it. */
export type FrameBatch = {
  readonly events: readonly OrreryEvent[];
  /** The frames of events `from` and on. All of them together are one buffer that every reader shares. */
  frames(from: number, wanted: (event: OrreryEvent) => boolean): Buffer;
  /** The same for readers that want everything. */
  all(from: number): Buffer;
};

export const createFrameBatch = (events: readonly OrreryEvent[], numbering: Numbering): FrameBatch => {
  const frameOf = (event: OrreryEvent): Buffer => Buffer.from(eventFrame(cursorOf(event, numbering), JSON.stringify(event)));
  const made: (Buffer | undefined)[] = [];
  const tails = new Map<number, Buffer>();
  const frame = (index: number): Buffer => (made[index] ??= frameOf(events[index]!));
  const all = (from: number): Buffer => {
    const known = tails.get(from);
    if (known !== undefined) return known;
    const joined = Buffer.concat(Array.from({ length: events.length - from }, (_, index) => frame(from + index)));
    tails.set(from, joined);
    return joined;
  };
  return {
    events,
    all,
    frames: (from, wanted) =>
      Buffer.concat(events.flatMap((event, index) => (index >= from && wanted(event) ? [frame(index)] : []))),
  };
};
