import type { LeftOut, SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';
import { leftOutWords } from './left-out.ts';

/** Takes back what was marked. The node saves what is there first, and refuses while a turn runs. */
export const TakeBack = (props: {
  readonly session: SessionView;
  readonly look: string;
  readonly leftOut: LeftOut;
  readonly done: () => void;
}) => {
  const { session, look, leftOut } = props;
  const queries = useQueryClient();
  const take = useMutation({
    mutationFn: () => node.call('sessionTakeBack', { params: { id: session.id }, body: { look, without: [...leftOut] } }),
    onSuccess: () => {
      void queries.invalidateQueries();
      props.done();
    },
  });
  const words = leftOutWords(leftOut);
  if (words === null) return null;
  return (
    <section aria-label="Taken back" className="mt-3 border-t border-line px-2 pt-2">
      <p>
        {words} to be taken back. What is there now becomes a checkpoint:{' '}
        <code className="font-mono">orrery session checkpoints {session.name}</code>. The agent is not told; say it in a comment.
      </p>
      <Button look="bad" disabled={take.isPending || session.turn !== null} onClick={() => take.mutate()}>
        Take back: {words}
      </Button>
      {take.error === null ? null : <Failed error={take.error} />}
    </section>
  );
};
