import { OrreryError } from '@orrery/protocol/errors';

/** First in, first out, with a size: a full queue refuses, it never drops and never grows. */
export type BoundedQueue<Item> = {
  readonly size: number;
  /** Appends, or throws `queue_full` naming the queue and its limit. */
  push(item: Item): void;
  /** Takes the oldest, or undefined when empty. */
  shift(): Item | undefined;
  /** Takes at most `count` of the oldest, in order. */
  take(count: number): Item[];
};

/** Makes a queue of at most `limit` items; `name` is what the refusal calls it. */
export const createBoundedQueue = <Item>({ name, limit }: { name: string; limit: number }): BoundedQueue<Item> => {
  // A head index instead of shifting, so that a long queue costs the same for each item.
  let items: (Item | undefined)[] = [];
  let head = 0;
  const take = (count: number): Item[] => {
    const taken = items.slice(head, head + count) as Item[];
    // What was taken is its taker's alone: an item may hold megabytes.
    items.fill(undefined, head, head + taken.length);
    head += taken.length;
    if (head > 1024 && head * 2 > items.length) {
      items = items.slice(head);
      head = 0;
    }
    return taken;
  };
  return {
    get size() {
      return items.length - head;
    },
    push: (item) => {
      if (items.length - head >= limit) {
        throw new OrreryError('queue_full', `The queue "${name}" is full.`, {
          rule: `It holds at most ${limit}.`,
          fix: 'Try again in a moment.',
          details: { queue: name, limit },
        });
      }
      items.push(item);
    },
    shift: () => take(1)[0],
    take,
  };
};
