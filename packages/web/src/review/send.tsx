import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { requestId } from '../state/node.ts';
import { visible } from './inert.ts';
import { messageOf, type Comment } from './comments.ts';

/** A way to say something to the agent. */
export type Way = {
  readonly name: string;
  readonly send: (message: string, request: string) => Promise<unknown>;
};

/** The collected comments as the one message they become. They stay until the node has taken it. */
export const SendComments = (props: {
  readonly comments: readonly Comment[];
  readonly range: { readonly baseSha: string; readonly headSha: string };
  readonly ways: readonly Way[];
  readonly sent: () => void;
}) => {
  const { comments, range, ways } = props;
  const [more, setMore] = useState('');
  const message = messageOf(comments, range, more);
  // The same words that are sent again after a failure are the same request.
  const request = useRef<{ readonly message: string; readonly id: string } | null>(null);
  const send = useMutation({
    mutationFn: (way: Way) => {
      if (request.current?.message !== message) request.current = { message, id: requestId() };
      return way.send(message, request.current.id);
    },
    onSuccess: () => {
      request.current = null;
      setMore('');
      props.sent();
    },
  });
  if (comments.length === 0)
    return send.isSuccess ? (
      <p role="status" className="mt-3 px-2 text-good">
        ✓ Your comments were sent.
      </p>
    ) : null;
  return (
    <section aria-label="Your comments" className="mt-3 border-t border-line px-2 pt-2">
      <h2 className="font-semibold">Your comments: {comments.length}</h2>
      <Message text={message} />
      <textarea
        aria-label="Words about all of it"
        placeholder="words about all of it"
        rows={2}
        value={more}
        onChange={({ target }) => setMore(target.value)}
        className="said w-full resize-y rounded border border-line bg-ground px-2 py-1"
      />
      <div className="flex flex-wrap gap-2">
        {ways.map((way, place) => (
          <Button key={way.name} look={place === 0 ? 'main' : 'plain'} disabled={send.isPending} onClick={() => send.mutate(way)}>
            {way.name}
          </Button>
        ))}
      </div>
      {send.error === null ? null : <Failed error={send.error} />}
    </section>
  );
};

const Message = ({ text }: { readonly text: string }) => (
  <details className="py-1">
    <summary className="cursor-pointer text-quiet">The message</summary>
    <pre tabIndex={0} aria-label="The message" className="said max-h-60 overflow-auto rounded bg-raised p-2 font-mono">
      {text.split('\n').map(visible).join('\n')}
    </pre>
  </details>
);
