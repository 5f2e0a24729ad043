// Events of the node say which answers are old. They are only hints: a page that missed some asks again.

import type { QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { everything, isOld, oldSince, type Old } from './about.ts';
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
  let old: Old[] | typeof everything | null = null;
  const tell = (): void => {
    const since = old;
    old = null;
    if (since === null) return;
    void (since === everything
      ? queries.invalidateQueries()
      : queries.invalidateQueries({ predicate: ({ queryKey, state }) => isOld(since, { queryKey, data: state.data }) }));
  };
  const add = (more: readonly Old[] | typeof everything): void => {
    if (more.length === 0) return;
    if (old === null) setTimeout(tell, QUIET_MS);
    old = more === everything || old === everything ? everything : [...(old ?? []), ...more];
  };
  const changed = (): void => add(everything);
  const follow = async (): Promise<void> => {
    const { seq } = await node.call('snapshot');
    const onConnection = (lost: unknown): void => {
      become(lost === null ? 'live' : 'lost');
      if (lost === null) changed();
    };
    for await (const event of node.events({ after: seq, onConnection, onReset: changed, awayMs: Number.MAX_SAFE_INTEGER }))
      add(oldSince(event));
  };
  const keepFollowing = (): void =>
    void follow().catch(() => {
      become('lost');
      setTimeout(keepFollowing, 2_000);
    });
  keepFollowing();
};
