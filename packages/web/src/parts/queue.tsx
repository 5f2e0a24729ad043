import type { SessionView, TurnView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { EditInput } from '../session/edit-input.tsx';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

/** Inputs that wait, and those of which a person has to say what becomes of them. */
export const Queue = ({ session }: { readonly session: SessionView }) => {
  const mayAct = useMayAct();
  const { data } = useQuery({
    queryKey: ['turns', session.id],
    queryFn: () => node.call('turnList', { params: { id: session.id } }),
  });
  const waiting = data?.items.filter(({ state }) => state === 'pending' || state === 'uncertain') ?? [];
  const pending = waiting.filter(({ state }) => state === 'pending');
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Inputs that wait" className="max-h-[40dvh] overflow-y-auto border-t border-line pt-1" tabIndex={0}>
      {waiting.map((turn) => (
        <Waiting
          key={turn.id}
          {...{ turn, mayAct, sessionId: session.id, place: pending.indexOf(turn), last: pending.length - 1 }}
        />
      ))}
    </ul>
  );
};

type Change = 'now' | 'remove' | 'retry' | 'discard' | { readonly to: number };

const words = {
  now: 'Send it now',
  remove: 'Take it back',
  retry: 'Send it again',
  discard: 'Let it be',
} as const;

/** What can become of an input; into a turn that runs, or instead of it, goes only what waits. */
const changesOf = ({ state }: TurnView): readonly (keyof typeof words)[] =>
  state === 'uncertain' ? ['retry', 'discard'] : ['now', 'remove'];

const asked = (params: { readonly id: string; readonly turn: string }, what: Change): Promise<unknown> => {
  if (typeof what === 'object') return node.call('turnSet', { params, body: { position: what.to } });
  if (what === 'now') return node.call('turnSendNow', { params, body: {} });
  if (what === 'remove') return node.call('turnRemove', { params });
  return node.call('turnDecide', { params, body: { decision: what } });
};

type WaitingProps = {
  readonly turn: TurnView;
  readonly sessionId: string;
  readonly mayAct: boolean;
  /** Among those that wait, from 0; -1: its fate is somebody's to decide. */
  readonly place: number;
  readonly last: number;
};

const Waiting = ({ turn, sessionId, mayAct, place, last }: WaitingProps) => {
  const [editing, setEditing] = useState(false);
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (what: Change) => asked({ id: sessionId, turn: turn.id }, what),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li className="flex flex-wrap items-baseline gap-2 py-0.5">
      <span className={turn.state === 'uncertain' ? 'text-careful' : 'text-quiet'}>
        {turn.state === 'uncertain' ? '! uncertain' : 'queued'}
      </span>
      {editing ? (
        <EditInput turn={turn} sessionId={sessionId} close={() => setEditing(false)} />
      ) : (
        <span className="said line-clamp-3 min-w-40 flex-1">
          {turn.text}
          {turn.attachments.length === 0 ? null : (
            <span className="text-quiet"> [{turn.attachments.map(({ name }) => name).join(', ')}]</span>
          )}
        </span>
      )}
      {turn.reason === null ? null : <span className="said w-full text-quiet">{turn.reason}</span>}
      {editing || !mayAct ? null : (
        <span className="inline-flex flex-wrap gap-1">
          <Order {...{ place, last, disabled: change.isPending }} move={(to) => change.mutate({ to })} />
          {turn.state === 'pending' && turn.action === 'say' ? <Button onClick={() => setEditing(true)}>Edit</Button> : null}
          {changesOf(turn).map((what) => (
            <Button key={what} disabled={change.isPending} onClick={() => change.mutate(what)}>
              {words[what]}
            </Button>
          ))}
        </span>
      )}
      {change.error === null ? null : <Failed error={change.error} />}
    </li>
  );
};

type OrderProps = {
  readonly place: number;
  readonly last: number;
  readonly disabled: boolean;
  readonly move: (to: number) => void;
};

/** Before and behind others that wait; alone it has no order. */
const Order = ({ place, last, disabled, move }: OrderProps) =>
  place < 0 || last < 1 ? null : (
    <>
      <Button aria-label="Earlier" disabled={disabled || place === 0} onClick={() => move(place - 1)}>
        ↑
      </Button>
      <Button aria-label="Later" disabled={disabled || place === last} onClick={() => move(place + 1)}>
        ↓
      </Button>
    </>
  );
