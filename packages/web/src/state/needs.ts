// What needs a person, told outside of the page: the number on its icon, and a notification, if the person asked for those.

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { node } from './node.ts';

/** Registers what keeps the shell of the client. Without it the page works as before. */
export const registerWorker = (): void => {
  if ('serviceWorker' in navigator) navigator.serviceWorker.register('/worker.js').catch(() => undefined);
};

/** How many questions are open. */
export const useOpenAsks = () =>
  useQuery({ queryKey: ['interactions'], queryFn: () => node.call('interactionList', { query: {} }) });

/** Says outside of the page what needs the person. */
export const useTellingNeeds = (): void => {
  const { data } = useOpenAsks();
  const told = useRef<ReadonlySet<string> | null>(null);
  const navigate = useNavigate();
  useEffect(() => {
    if (data === undefined) return;
    const { items } = data;
    setBadge(items.length);
    // What waited before the page was opened is seen in it.
    const fresh = told.current === null ? [] : items.filter(({ id }) => told.current?.has(id) === false);
    told.current = new Set(items.map(({ id }) => id));
    if (document.visibilityState === 'visible') return;
    for (const { sessionName } of fresh) notify(`${sessionName} needs you`);
  }, [data]);
  useEffect(() => {
    const onMessage = ({ data: said }: MessageEvent): void => {
      if (said === 'inbox') void navigate({ to: '/' });
    };
    navigator.serviceWorker?.addEventListener('message', onMessage);
    return () => navigator.serviceWorker?.removeEventListener('message', onMessage);
  }, [navigate]);
};

const setBadge = (count: number): void => {
  if (!('setAppBadge' in navigator)) return;
  (count === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(count)).catch(() => undefined);
};

/** What an agent wrote is not in it: a notification is seen by whoever sees the screen. The same by push is the same one: its words are its name. */
const notify = (title: string): void => {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  navigator.serviceWorker?.ready
    .then((worker) => worker.showNotification(title, { tag: title, icon: '/icon-192.png', badge: '/icon-192.png' }))
    .catch(() => undefined);
};

type Asking = { readonly permission: NotificationPermission | 'none'; readonly ask: () => void };

/** Whether the browser may notify; it is asked only when a person says so. */
export const useNotifications = (): Asking => {
  const [permission, setPermission] = useState<Asking['permission']>(() =>
    'Notification' in globalThis && 'serviceWorker' in navigator ? Notification.permission : 'none',
  );
  return { permission, ask: () => void Notification.requestPermission().then(setPermission, () => undefined) };
};
