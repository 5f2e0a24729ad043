// A browser that is told by its maker's push service, while no window of the client is open.

import type { PushView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { node } from './node.ts';

const hasPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in globalThis;

export type PushHere = {
  /** Whether this browser knows push at all. */
  readonly known: boolean;
  /** Browsers of this person that are told. */
  readonly browsers: readonly PushView[];
  /** Lets this one be told. */
  readonly begin: () => void;
  readonly tryIt: (id: string) => void;
  readonly end: (id: string) => void;
  readonly busy: boolean;
  readonly error: Error | null;
};

export const usePush = (): PushHere => {
  const queries = useQueryClient();
  const list = useQuery({ queryKey: ['push'], queryFn: () => node.call('pushList'), enabled: hasPush() });
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSettled: () => queries.invalidateQueries({ queryKey: ['push'] }),
  });
  const key = list.data?.key;
  return {
    known: hasPush() && key !== undefined,
    browsers: list.data?.items ?? [],
    begin: () => key !== undefined && act.mutate(() => subscribe(key)),
    tryIt: (id) => act.mutate(() => node.call('pushTry', { params: { id }, body: {} })),
    end: (id) => act.mutate(() => node.call('pushRemove', { params: { id } })),
    busy: act.isPending,
    error: act.error,
  };
};

const subscribe = async (key: string): Promise<void> => {
  const worker = await navigator.serviceWorker.ready;
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = made.toJSON();
  const { p256dh, auth } = keys ?? {};
  if (endpoint === undefined || p256dh === undefined || auth === undefined)
    throw new Error('This browser gave no address to write to.');
  await node.call('pushAdd', { body: { endpoint, keys: { p256dh, auth } } });
};
