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

type Change = 'now' | 'remove' | 'retry' | 'discard';

const words: Readonly<Record<Change, string>> = {
  now: 'Send it now',
  remove: 'Take it back',
  retry: 'Send it again',
  discard: 'Let it be',
};

/** What can become of an input; into a turn that runs, or instead of it, goes only what waits. */
const changesOf = ({ state }: TurnView): readonly Change[] => (state === 'uncertain' ? ['retry', 'discard'] : ['now', 'remove']);

const asked = (params: { readonly id: string; readonly turn: string }, what: Change): Promise<unknown> => {
  if (what === 'now') return node.call('turnSendNow', { params, body: {} });
  if (what === 'remove') return node.call('turnRemove', { params });
  return node.call('turnDecide', { params, body: { decision: what } });
};

const Waiting = ({ turn, sessionId }: { readonly turn: TurnView; readonly sessionId: string }) => {
  const queries = useQueryClient();
  const params = { id: sessionId, turn: turn.id };
  const change = useMutation({
    mutationFn: (what: Change) => asked(params, what),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li className="flex flex-wrap items-baseline gap-2 py-0.5">
      <span className={turn.state === 'uncertain' ? 'text-careful' : 'text-quiet'}>
        {turn.state === 'uncertain' ? '! uncertain' : 'queued'}
      </span>
      <span className="said flex-1">{turn.text}</span>
      {turn.reason === null ? null : <span className="said w-full text-quiet">{turn.reason}</span>}
      {changesOf(turn).map((what) => (
        <Button key={what} disabled={change.isPending} onClick={() => change.mutate(what)}>
          {words[what]}
        </Button>
      ))}
      {change.error === null ? null : <Failed error={change.error} />}
    </li>
  );
};
