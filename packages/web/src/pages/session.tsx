import type { SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '../commands/use-commands.ts';
import { Answer } from '../parts/answer.tsx';
import { Ask } from '../parts/ask.tsx';
import { Button } from '../parts/button.tsx';
import { Composer } from '../parts/composer.tsx';
import { AsCli } from '../parts/copy.tsx';
import { LimitWithWay } from '../parts/limit.tsx';
import { Queue } from '../parts/queue.tsx';
import { Rows } from '../parts/rows.tsx';
import { Failed, State } from '../parts/states.tsx';
import { SessionBar } from '../session/bar.tsx';
import { useOpenAsks } from '../state/needs.ts';
import { node, requestId } from '../state/node.ts';
import { useSession } from '../state/use-session.ts';
import { useTranscript } from '../state/use-transcript.ts';

/** One conversation: what was said, what is asked, what waits, and words of one's own. */
export const SessionPage = () => {
  const { name } = useParams({ strict: false }) as { readonly name: string };
  return (
    <div className="flex h-[calc(100dvh-var(--head)-1.75rem-var(--tabs,0px))] flex-col">
      <Answer query={useSession(name)}>{(session) => <Conversation key={session.id} session={session} />}</Answer>
    </div>
  );
};

const Conversation = ({ session }: { readonly session: SessionView }) => {
  const asks = useOpenAsks();
  const { rows, older, readOlder } = useTranscript(session.id);
  const mine = asks.data?.items.filter(({ sessionId }) => sessionId === session.id) ?? [];
  return (
    <>
      <Head session={session} />
      <SessionBar session={session} rows={rows} />
      <Rows rows={rows} older={older !== null} readOlder={readOlder} />
      {mine.map((asked) => (
        <Ask key={asked.id} asked={asked} named={false} />
      ))}
      <Queue session={session} />
      <Composer session={session} />
    </>
  );
};

const Head = ({ session }: { readonly session: SessionView }) => {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () => node.call('sessionInterrupt', { params: { id: session.id }, body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['session'] }),
  });
  useSessionCommands(session, stop.isPending ? null : stop.mutate);
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 border-b border-line pb-2">
      <h1 className="font-semibold">{session.name}</h1>
      {session.title === session.name ? null : <span className="said">{session.title}</span>}
      <State state={session.state} />
      <span className="text-quiet">
        {session.project.name} · {session.harness} · {session.environment.backend}
      </span>
      {session.reason === null ? null : <span className="said text-quiet">{session.reason}</span>}
      <AsCli>{session.state === 'ended' ? `orrery session log ${session.name}` : `orrery chat ${session.name}`}</AsCli>
      <Link to="/sessions/$name/changes" params={{ name: session.id }} className="text-accent underline">
        Changes
      </Link>
      <Link to="/terminals/$name" params={{ name: session.environment.id }} className="text-accent underline">
        Terminals
      </Link>
      <Lineage session={session} />
      <span className="ml-auto inline-flex gap-2">
        <Fork session={session} />
        {session.turn === null ? null : (
          <Button look="bad" disabled={stop.isPending} onClick={() => stop.mutate()}>
            Stop
          </Button>
        )}
      </span>
      <LimitWithWay session={session} />
      {stop.error === null ? null : <Failed error={stop.error} />}
    </div>
  );
};

/** The sessions that it comes from and that come from it, as links. */
const Lineage = ({ session: { forkedFrom, handedFrom, handedTo } }: { readonly session: SessionView }) => (
  <>
    {forkedFrom === null ? null : (
      <Other id={forkedFrom.session}>
        forked from another session{forkedFrom.turn === null ? '' : `, before its turn ${forkedFrom.turn}`}
        {forkedFrom.replaced ? ', with a record of what was said' : ''}
      </Other>
    )}
    {handedFrom === null ? null : <Other id={handedFrom}>handed over by another session</Other>}
    {handedTo === null ? null : <Other id={handedTo}>handed over to another session</Other>}
  </>
);

const Other = ({ id, children }: { readonly id: string; readonly children: React.ReactNode }) => (
  <Link to="/sessions/$name" params={{ name: id }} className="text-accent underline">
    {children}
  </Link>
);

/** Another session begins with what is there now; this one stays as it is. */
const Fork = ({ session }: { readonly session: SessionView }) => {
  const navigate = useNavigate();
  // Pressed again after no answer came, it is the same fork.
  const [request, again] = useState(requestId);
  const fork = useMutation({
    mutationFn: async () => {
      const made = await node.call('sessionFork', { params: { id: session.id }, body: { requestId: request } });
      again(requestId());
      await navigate({ to: '/sessions/$name', params: { name: made.id } });
    },
  });
  const does = `fork ${session.name}${session.forks === 'native' ? '' : ' with a record of what was said'}`;
  useCommands([{ id: 'fork', does, group: 'Do', keys: 'F', when: () => !fork.isPending, run: () => fork.mutate() }]);
  return (
    <>
      <Button disabled={fork.isPending} onClick={() => fork.mutate()}>
        {session.forks === 'native' ? 'Fork' : 'Fork with a record'}
      </Button>
      {fork.error === null ? null : <Failed error={fork.error} />}
    </>
  );
};

/** What can be done in a session by keys. */
const useSessionCommands = ({ name, turn }: SessionView, stop: (() => void) | null): void =>
  useCommands([
    {
      id: 'stop',
      does: `stop the turn of ${name}`,
      group: 'Do',
      keys: '.',
      when: () => turn !== null && stop !== null,
      run: () => stop?.(),
    },
    { id: 'say', does: 'say something', group: 'Do', keys: 'c', run: () => document.querySelector('textarea')?.focus() },
  ]);
