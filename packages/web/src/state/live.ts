// Events of the node say which answers are old. They are only hints: a page that missed some asks again.

import type { QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { node } from './node.ts';

/** Answers are asked for again at most this often while events come. */
const QUIET_MS = 200;

/** Whether what is shown follows the node, or may be old. */
type Connection = 'live' | 'lost';

/** The page's view of its connection. */
export type Live = {
  readonly subscribe: (watcher: () => void) => () => void;
  readonly now: () => Connection;
  readonly become: (next: Connection) => void;
};

export const createLive = (): Live => {
  let connection: Connection = 'live';
  const watchers = new Set<() => void>();
  return {
    subscribe: (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    now: () => connection,
    become: (next) => {
      connection = next;
      for (const watcher of watchers) watcher();
    },
  };
};

export const LiveContext = createContext<Live>(createLive());

export const useConnection = (): Connection => {
  const { subscribe, now } = useContext(LiveContext);
  return useSyncExternalStore(subscribe, now);
};

/** Marks answers as old when the node says that something changed. */
export const followNode = (queries: QueryClient, { become }: Pick<Live, 'become'>): void => {
  let waiting = false;
  const changed = (): void => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      void queries.invalidateQueries();
    }, QUIET_MS);
  };
  const follow = async (): Promise<void> => {
    const { seq } = await node.call('snapshot');
    const onConnection = (lost: unknown): void => {
      become(lost === null ? 'live' : 'lost');
      if (lost === null) changed();
    };
    for await (const event of node.events({ after: seq, onConnection, onReset: changed, awayMs: Number.MAX_SAFE_INTEGER }))
      if (concernsLists(event.body.kind)) changed();
  };
  const keepFollowing = (): void =>
    void follow().catch(() => {
      become('lost');
      setTimeout(keepFollowing, 2_000);
    });
  keepFollowing();
};

/** What is said inside a conversation is read by its own page. */
const concernsLists = (kind: string): boolean =>
  !['text', 'thinking', 'tool.call', 'tool.result', 'usage', 'stage.output', 'user'].includes(kind);
