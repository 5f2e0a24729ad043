import type { TurnView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';

type EditProps = { readonly turn: TurnView; readonly sessionId: string; readonly close: () => void };

/** What is written, and the text that it takes the place of. */
const useEdit = ({ turn, sessionId, close }: EditProps) => {
  const [text, setText] = useState(turn.text);
  const [was, setWas] = useState(turn.text);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => node.call('turnSet', { params: { id: sessionId, turn: turn.id }, body: { text, was } }),
    onSuccess: close,
    onSettled: () => queries.invalidateQueries({ queryKey: ['turns'] }),
  });
  return {
    ...{ text, setText, save },
    changed: turn.text !== was,
    can: text.trim() !== '' && text !== turn.text && !save.isPending,
    settle: (mine: string): void => {
      setText(mine);
      setWas(turn.text);
      save.reset();
    },
  };
};

/**
 * Another text for an input that waits. What was written by somebody else since is never written over unseen: the node
 * refuses, and the newer text is shown beside.
 */
export const EditInput = (props: EditProps) => {
  const { turn, close } = props;
  const { text, setText, save, changed, can, settle } = useEdit(props);
  const give = (): void => {
    if (can) save.mutate();
  };
  return (
    <form
      className="min-w-60 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        give();
      }}
    >
      <textarea
        aria-label="Text of the input"
        autoFocus
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          give();
        }}
        className="said w-full resize-y rounded border border-line bg-ground px-2 py-1"
      />
      {changed ? <Theirs text={turn.text} keepMine={() => settle(text)} takeTheirs={() => settle(turn.text)} /> : null}
      <div className="flex flex-wrap gap-2">
        <Button look="main" type="submit" disabled={!can || changed}>
          Keep
        </Button>
        <Button onClick={close}>Leave it</Button>
      </div>
      {save.error === null ? null : <Failed error={save.error} />}
    </form>
  );
};

type TheirsProps = { readonly text: string; readonly keepMine: () => void; readonly takeTheirs: () => void };

/** What another window made of it since. */
const Theirs = ({ text, keepMine, takeTheirs }: TheirsProps) => (
  <div className="my-1 border-l-2 border-careful pl-2">
    <p className="text-careful">! It was changed in another window since. There it is:</p>
    <p className="said max-h-24 overflow-y-auto">{text}</p>
    <span className="inline-flex gap-2">
      <Button onClick={keepMine}>Keep mine</Button>
      <Button onClick={takeTheirs}>Take theirs</Button>
    </span>
  </div>
);
