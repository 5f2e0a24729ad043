import type { SessionView, TurnView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

/** Inputs that wait, and those of which a person has to say what becomes of them. */
export const Queue = ({ session }: { readonly session: SessionView }) => {
  const { data } = useQuery({
    queryKey: ['turns', session.id],
    queryFn: () => node.call('turnList', { params: { id: session.id } }),
  });
  const waiting = data?.items.filter(({ state }) => state === 'pending' || state === 'uncertain') ?? [];
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Inputs that wait" className="border-t border-line pt-1">
      {waiting.map((turn) => (
        <Waiting key={turn.id} turn={turn} sessionId={session.id} />
      ))}
    </ul>
  );
};

const Waiting = ({ turn, sessionId }: { readonly turn: TurnView; readonly sessionId: string }) => {
  const queries = useQueryClient();
  const params = { id: sessionId, turn: turn.id };
  const change = useMutation({
    mutationFn: (what: 'remove' | 'retry' | 'discard') =>
      what === 'remove' ? node.call('turnRemove', { params }) : node.call('turnDecide', { params, body: { decision: what } }),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li className="flex flex-wrap items-baseline gap-2 py-0.5">
      <span className={turn.state === 'uncertain' ? 'text-careful' : 'text-quiet'}>
        {turn.state === 'uncertain' ? '! uncertain' : 'queued'}
      </span>
      <span className="said flex-1">{turn.text}</span>
      {turn.reason === null ? null : <span className="said w-full text-quiet">{turn.reason}</span>}
      {(turn.state === 'uncertain' ? (['retry', 'discard'] as const) : (['remove'] as const)).map((what) => (
        <Button key={what} disabled={change.isPending} onClick={() => change.mutate(what)}>
          {{ retry: 'Send it again', discard: 'Let it be', remove: 'Take it back' }[what]}
        </Button>
      ))}
      {change.error === null ? null : <Failed error={change.error} />}
    </li>
  );
};
