import type { CheckpointView, SessionRewound, SessionView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { AsCli } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Failed } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { visible } from '../review/inert.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { momentText, rewindWords, whereText, type What } from './moments.ts';

/** How long a program that ends and a large checkout may take, ms. */
const PATIENCE_MS = 610_000;

const useHistory = ({ id }: SessionView) => {
  const queries = useQueryClient();
  const onSettled = (): void => void queries.invalidateQueries();
  const params = { id };
  const save = useMutation({
    mutationFn: () => node.call('sessionCheckpoint', { params, body: {}, timeoutMs: PATIENCE_MS }),
    onSettled,
  });
  const rewind = useMutation({
    mutationFn: (body: { readonly to: string; readonly what: What }) =>
      node.call('sessionRewind', { params, body, timeoutMs: PATIENCE_MS }),
    onSettled,
  });
  return { save, rewind, busy: save.isPending || rewind.isPending };
};

type Props = { readonly session: SessionView; readonly close: () => void };

/** Moments that a session can go back to. */
export const Checkpoints = ({ session, close }: Props) => {
  const query = useQuery({
    queryKey: ['checkpoints', session.id],
    queryFn: () => node.call('sessionCheckpoints', { params: { id: session.id } }),
  });
  const history = useHistory(session);
  const [what, setWhat] = useState<What>('both');
  const mayAct = useMayAct() && session.state !== 'ended';
  const disabled = history.busy || session.turn !== null || session.operation !== null;
  const { save, rewind } = history;
  return (
    <Dialog name="Checkpoints" close={close}>
      <div className="flex max-h-[75dvh] flex-col gap-2 p-3">
        <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <h2 className="font-semibold">Checkpoints of {session.name}</h2>
          <AsCli>{`orrery session checkpoints ${session.name}`}</AsCli>
          <span className="ml-auto">
            <Button onClick={close}>Close</Button>
          </span>
        </div>
        {mayAct ? <What what={what} choose={setWhat} disabled={disabled} save={() => save.mutate()} /> : null}
        {session.turn === null ? null : <p className="text-careful">! a turn runs: it goes back when that is over</p>}
        <Outcome history={history} disabled={disabled} />
        {[save.error, rewind.error].map((error) => (error === null ? null : <Failed key={String(error)} error={error} />))}
        <Answer query={query}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty>Nothing is saved yet; it is before each turn.</Empty>
            ) : (
              <ul aria-label="Moments" className="min-h-0 overflow-y-auto" tabIndex={0}>
                {items.map((one) => (
                  <Moment key={one.id} session={session} moment={one}>
                    {mayAct ? (
                      <Sure
                        name="Go back"
                        says={rewindWords(one, what)}
                        disabled={disabled}
                        act={() => rewind.mutate({ to: one.id, what })}
                      />
                    ) : null}
                  </Moment>
                ))}
              </ul>
            )
          }
        </Answer>
      </div>
    </Dialog>
  );
};

type History = ReturnType<typeof useHistory>;

/** What is being done, and what it came to. */
const Outcome = ({ history: { rewind, busy }, disabled }: { readonly history: History; readonly disabled: boolean }) => (
  <div role="status">
    {busy ? <p className="text-accent">● what is there now is being saved …</p> : null}
    {rewind.data === undefined ? null : (
      <Rewound
        {...{ rewound: rewind.data, what: rewind.variables.what, disabled }}
        back={(to) => rewind.mutate({ to, what: rewind.variables.what })}
      />
    )}
  </div>
);

type WhatProps = {
  readonly what: What;
  readonly choose: (what: What) => void;
  readonly disabled: boolean;
  readonly save: () => void;
};

/** What goes back, and saving now. */
const What = ({ what, choose, disabled, save }: WhatProps) => (
  <div className="flex flex-wrap items-baseline gap-3">
    <label className="inline-flex items-baseline gap-1 text-quiet">
      goes back
      <select
        value={what}
        onChange={({ target: { value } }) => choose(value === 'files' || value === 'conversation' ? value : 'both')}
        className="h-7 rounded border border-line bg-ground px-1 text-ink"
      >
        <option value="both">files and conversation</option>
        <option value="files">files alone</option>
        <option value="conversation">conversation alone</option>
      </select>
    </label>
    <Button disabled={disabled} onClick={save}>
      Save as it is now
    </Button>
  </div>
);

type MomentProps = { readonly session: SessionView; readonly moment: CheckpointView; readonly children: React.ReactNode };

const Moment = ({ session, moment, children }: MomentProps) => (
  <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line py-1">
    <span className="font-semibold">{momentText(moment)}</span>
    <Ago at={moment.createdAt} />
    <span className="text-quiet">
      {moment.conversation === 'native' ? 'its program goes back' : 'a new conversation with a record'} ·{' '}
      {moment.sha.slice(0, 10)}
    </span>
    <span className="ml-auto inline-flex flex-wrap items-baseline gap-3">
      <Link
        to="/sessions/$name/changes"
        params={{ name: session.id }}
        search={{ since: moment.id } as never}
        className="text-accent underline"
      >
        Changes since
      </Link>
      {children}
    </span>
    {moment.notes.map((note) => (
      <span key={note} className="said w-full text-careful">
        ! {visible(note)}
      </span>
    ))}
  </li>
);

type RewoundProps = {
  readonly rewound: SessionRewound;
  readonly what: What;
  readonly disabled: boolean;
  readonly back: (to: string) => void;
};

/** What going back came to, and the way back from it. */
const Rewound = ({ rewound: { checkpoint, before, saved, replaced }, what, disabled, back }: RewoundProps) => (
  <div className="rounded border border-line bg-raised px-3 py-2">
    <p>
      <span className="text-good">✓</span> {whereText(checkpoint, what)}
    </p>
    {replaced ? <p>Its program cannot go back: it begins a new conversation with a record of what is kept.</p> : null}
    {saved.map((ref) => (
      <p key={ref} className="said">
        What nothing else had is saved as <code className="font-mono">{ref}</code>.
      </p>
    ))}
    <Button disabled={disabled} onClick={() => back(before.id)}>
      Take it back
    </Button>
  </div>
);
