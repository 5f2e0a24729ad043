// The node's end of the thread that keeps screens: begun when the first one needs it.

import { Worker } from 'node:worker_threads';
import type { FromScreens, ToScreens } from './screen-worker.ts';

/** Screens kept at once; of more, what is gone cannot be drawn, and that is said. */
const SCREENS = 64;
/** Memory of the thread: it keeps rows that are shown, and nothing that scrolled away. */
const THREAD_MB = 512;

/** One screen in the thread. Every call rejects when the thread is gone. */
export type KeptScreen = {
  /** Resolves when it was taken in: there is never more than that on the way. */
  feed(bytes: Uint8Array): Promise<void>;
  resize(columns: number, rows: number): void;
  /** What draws it on an empty terminal of its size. */
  draw(): Promise<string>;
  close(): void;
};

/** Where a screen goes on from. */
export type ScreenBeginning = { readonly columns: number; readonly rows: number; readonly screen: string };

export type ScreensThread = {
  /** Null when there are too many. */
  open(id: string, beginning: ScreenBeginning): KeptScreen | null;
  close(): void;
};

type Talk = { post(told: ToScreens): void; ask(told: (ask: number) => ToScreens): Promise<string | null>; end(): void };

// Sources run as they are; packed, the same file is JavaScript beside this one.
const workerFile = (): URL =>
  new URL(import.meta.url.endsWith('.ts') ? './screen-worker.ts' : './screen-worker.js', import.meta.url);

const begin = (onGone: () => void): Talk => {
  const worker = new Worker(workerFile(), {
    name: 'orrery-screens',
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
  });
  const waiting = new Map<number, PromiseWithResolvers<string | null>>();
  let lastAsk = 0;
  let gone = false;
  const lose = (): void => {
    gone = true;
    for (const one of waiting.values()) one.reject(new Error('the thread of screens ended'));
    waiting.clear();
    onGone();
  };
  worker.on('message', ({ ask, screen }: FromScreens) => {
    waiting.get(ask)?.resolve(screen);
    waiting.delete(ask);
  });
  worker.on('error', lose);
  worker.on('exit', lose);
  // A node that has nothing else to do ends.
  worker.unref();
  return {
    post: (told) => worker.postMessage(told),
    ask: (told) => {
      if (gone) return Promise.reject(new Error('the thread of screens ended'));
      const answer = Promise.withResolvers<string | null>();
      waiting.set(++lastAsk, answer);
      worker.postMessage(told(lastAsk));
      return answer.promise;
    },
    end: () => void worker.terminate(),
  };
};

/** Makes it; the thread begins with the first screen. */
export const createScreensThread = (): ScreensThread => {
  const open = new Set<string>();
  let talk: Talk | null = null;
  const forget = (): void => {
    talk = null;
    open.clear();
  };
  return {
    open(id, beginning) {
      if (open.size >= SCREENS || open.has(id)) return null;
      const mine = (talk ??= begin(forget));
      open.add(id);
      mine.post({ kind: 'open', id, ...beginning });
      return {
        feed: async (bytes) => void (await mine.ask((ask) => ({ kind: 'feed', id, bytes, ask }))),
        resize: (columns, rows) => mine.post({ kind: 'resize', id, columns, rows }),
        draw: async () => (await mine.ask((ask) => ({ kind: 'draw', id, ask }))) ?? '',
        close: () => {
          mine.post({ kind: 'close', id });
          if (talk === mine) open.delete(id);
        },
      };
    },
    close() {
      talk?.end();
      forget();
    },
  };
};
