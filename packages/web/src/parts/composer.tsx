import type { SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { node, requestId } from '../state/node.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

const useSending = (sessionId: string) => {
  const [text, setText] = useState('');
  // The same words that are sent again after a failure are the same request.
  const request = useRef<string | null>(null);
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: (kind: 'prompt' | 'steer') => {
      request.current ??= requestId();
      return node.call('turnAdd', { params: { id: sessionId }, body: { text, kind, requestId: request.current } });
    },
    onSuccess: () => {
      request.current = null;
      setText('');
      void queries.invalidateQueries();
    },
  });
  const change = (words: string): void => {
    request.current = null;
    setText(words);
  };
  return { text, change, send };
};

/** Words for the agent. Enter sends, or queues while a turn runs; what could not be sent stays there. */
export const Composer = ({ session }: { readonly session: SessionView }) => {
  const { text, change, send } = useSending(session.id);
  const busy = session.turn !== null;
  const over = session.state === 'ended';
  const can = text.trim() !== '' && !send.isPending && !over;
  return (
    <form
      className="mt-2 border-t border-line pt-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (can) send.mutate('prompt');
      }}
    >
      <textarea
        aria-label="Message"
        rows={3}
        disabled={over}
        placeholder={over ? 'This session has ended.' : 'Say something. Enter sends, Shift+Enter begins a line.'}
        value={text}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (can) send.mutate('prompt');
        }}
        className="said w-full resize-y rounded border border-line bg-ground px-2 py-1"
      />
      <div className="flex gap-2">
        <Button look="main" type="submit" disabled={!can}>
          {busy ? 'Queue' : 'Send'}
        </Button>
        {busy ? (
          <Button disabled={!can} onClick={() => send.mutate('steer')}>
            Say it now
          </Button>
        ) : null}
      </div>
      {send.error === null ? null : <Failed error={send.error} />}
    </form>
  );
};
