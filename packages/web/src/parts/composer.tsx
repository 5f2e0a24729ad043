import type { SessionView } from '@orrery/protocol';
import { useId, useMemo, useRef } from 'react';
import { useCatalogue } from '../session/catalogue.ts';
import { PickedFiles } from '../session/picked-files.tsx';
import { SlashList } from '../session/slash-list.tsx';
import { slashes } from '../session/slash.ts';
import { useSending, type Sending } from '../session/use-sending.ts';
import { useSlashKeys } from '../session/use-slash-keys.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

/** Words and files for the agent, and commands. Enter sends, or queues while a turn runs; what could not be sent stays there. */
export const Composer = ({ session }: { readonly session: SessionView }) => {
  const catalogue = useCatalogue(session.id);
  const all = useMemo(() => slashes(catalogue), [catalogue]);
  const sending = useSending(session, all);
  const slash = useSlashKeys(sending.text, all, sending.change);
  const list = useId();
  const over = session.state === 'ended';
  const can = sending.can && !over;
  const open = slash.offered.length > 0;
  return (
    <form
      className="relative mt-2 border-t border-line pt-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (!over) sending.add([...event.dataTransfer.files]);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (can) sending.send.mutate('prompt');
      }}
    >
      {open ? <SlashList id={list} {...slash} /> : null}
      <textarea
        aria-label="Message"
        aria-controls={open ? list : undefined}
        aria-activedescendant={open ? `${list}-${slash.place}` : undefined}
        aria-autocomplete="list"
        rows={3}
        disabled={over}
        placeholder={
          over ? 'This session has ended.' : 'Say something. Enter sends, Shift+Enter begins a line, / lists commands.'
        }
        value={sending.text}
        onChange={({ target }) => sending.change(target.value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          sending.add(files);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          const mine = !event.shiftKey && slash.onKey(event);
          if (!mine && (event.key !== 'Enter' || event.shiftKey)) return;
          event.preventDefault();
          if (!mine && can) sending.send.mutate('prompt');
        }}
        className="said w-full resize-y rounded border border-line bg-ground px-2 py-1 max-sm:h-14"
      />
      <PickedFiles files={sending.files} remove={sending.remove} />
      <Ways sending={sending} can={can} over={over} busy={session.turn !== null} />
      {sending.send.error === null ? null : <Failed error={sending.send.error} />}
    </form>
  );
};

type WaysProps = { readonly sending: Sending; readonly can: boolean; readonly over: boolean; readonly busy: boolean };

const Ways = ({ sending, can, over, busy }: WaysProps) => {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="flex flex-wrap items-baseline gap-2">
      <Button look="main" type="submit" disabled={!can}>
        {busy ? 'Queue' : 'Send'}
      </Button>
      {busy ? (
        <Button disabled={!can} onClick={() => sending.send.mutate('steer')}>
          Say it now
        </Button>
      ) : null}
      <Button disabled={over} onClick={() => input.current?.click()}>
        Attach …
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ target }) => {
          sending.add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <span role="status" className="said text-careful">
        {sending.refused === null ? null : `! ${sending.refused}`}
        {sending.send.isPending && sending.files.length > 0 ? 'sending …' : null}
      </span>
    </div>
  );
};
