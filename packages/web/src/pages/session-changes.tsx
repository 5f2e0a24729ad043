import type { LeftOut, SessionChangeSet, SessionView } from '@orrery/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { AsCli } from '../parts/copy.tsx';
import { Empty, Failed, Loading, State } from '../parts/states.tsx';
import { ApplyWork } from '../review/apply-work.tsx';
import { reviewsIn } from '../review/answered.ts';
import { Answered } from '../review/answered.tsx';
import { PullRequestPart } from '../review/pull-request.tsx';
import { Review } from '../review/review.tsx';
import { takingBack, toggled } from '../review/left-out.ts';
import { TakeBack } from '../review/take-back.tsx';
import { SendComments, type Way } from '../review/send.tsx';
import { useComments } from '../review/use-comments.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { useSession } from '../state/use-session.ts';

/** The files of a session as they are between its turns, reviewed. */
export const SessionChangesPage = () => {
  const { name } = useParams({ strict: false }) as { readonly name: string };
  const query = useSession(name);
  return <Answer query={query}>{(session) => <Looked key={session.id} session={session} />}</Answer>;
};

/** Looking costs a walk through all files, so it is done when somebody asks or a turn is over, and not at each event. */
const useLook = (session: SessionView, from: string) => {
  const look = useQuery({
    queryKey: ['look', session.id, from],
    queryFn: () => node.call('sessionChanges', { params: { id: session.id }, query: from === '' ? {} : { from } }),
    enabled: false,
    retry: false,
  });
  const { refetch } = look;
  const still = session.turn === null;
  useEffect(() => {
    if (still) void refetch();
  }, [from, refetch, still]);
  return look;
};

const Looked = ({ session }: { readonly session: SessionView }) => {
  // A checkpoint is named by the address of whoever comes from its list.
  const { since } = useSearch({ strict: false }) as { readonly since?: unknown };
  const [from, setFrom] = useState(typeof since === 'string' ? since : '');
  const look = useLook(session, from);
  const { data, error, isFetching } = look;
  return (
    <>
      <div className="mb-2 flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line pb-2">
        <h1 className="font-semibold">Changes of {session.name}</h1>
        <State state={session.state} />
        <Link to="/sessions/$name" params={{ name: session.id }} className="text-accent underline">
          The session
        </Link>
        <AsCli>{`orrery chat ${session.name}`}</AsCli>
        <Since session={session} from={from} choose={setFrom} />
        <Button disabled={isFetching || session.turn !== null} onClick={() => void look.refetch()}>
          Look again
        </Button>
        {session.turn === null ? null : (
          <span className="text-quiet">● a turn runs; its files are looked at when it is over</span>
        )}
        {data !== undefined && session.sequence > data.sequence ? (
          <span className="text-careful">! the session went on since</span>
        ) : null}
      </div>
      {error === null ? null : <Failed error={error} />}
      {isFetching && data === undefined ? <Loading /> : null}
      {data === undefined ? null : (
        <Changes key={data.look} session={session} change={data} lookAgain={() => void look.refetch()} />
      )}
    </>
  );
};

type SinceProps = { readonly session: SessionView; readonly from: string; readonly choose: (from: string) => void };

/** Since its base, or since one of the moments that were saved. */
const Since = ({ session, from, choose }: SinceProps) => {
  const { data } = useQuery({
    queryKey: ['checkpoints', session.id],
    queryFn: () => node.call('sessionCheckpoints', { params: { id: session.id } }),
  });
  return (
    <label className="flex items-baseline gap-1 text-quiet">
      since
      <select
        value={from}
        onChange={({ target }) => choose(target.value)}
        className="h-7 max-w-60 rounded border border-line bg-ground px-1 text-ink"
      >
        <option value="">its base</option>
        {data?.items.map(({ id, turn, createdAt }) => (
          <option key={id} value={id}>
            {turn === null ? 'the checkpoint of' : `before turn ${turn},`} {new Date(createdAt).toLocaleString()}
          </option>
        ))}
      </select>
    </label>
  );
};

/** Rows that are read for reviews that were sent: the newest ones. */
const READ_ROWS = 1_000;

/** The reviews that were sent in this session, newest first, read when a turn is over. */
const useReviews = ({ id, turn, sequence }: SessionView) => {
  const { data } = useQuery({
    queryKey: ['reviews', id, turn === null ? sequence : 0],
    queryFn: async () => reviewsIn((await node.call('sessionRows', { params: { id }, query: { limit: READ_ROWS } })).items),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  return data ?? [];
};

type ChangesProps = { readonly session: SessionView; readonly change: SessionChangeSet; readonly lookAgain: () => void };

const Changes = ({ session, change, lookAgain }: ChangesProps) => {
  const { comments, change: put, clear } = useComments(session.id);
  const mayAct = useMayAct() && session.state !== 'ended';
  const [leftOut, setLeftOut] = useState<LeftOut>([]);
  const ways = useWays(session);
  const reviews = useReviews(session);
  const { look, notes } = change;
  const aside = (
    <>
      {mayAct ? <TakeBack session={session} look={look} leftOut={leftOut} done={lookAgain} /> : null}
      {mayAct ? <SendComments comments={comments} range={change} ways={ways} sent={clear} /> : null}
      {mayAct ? <ApplyWork environment={session.environment} still={session.turn === null} /> : null}
      <PullOf session={session} mayAct={mayAct} />
      <Answered reviews={reviews} waits={session.turn !== null} />
      {notes.map((note) => (
        <p key={note} className="said mt-2 px-2 text-careful">
          ! {note}
        </p>
      ))}
    </>
  );
  if (change.files.length === 0)
    return (
      <>
        <Empty>Nothing was changed.</Empty>
        {aside}
      </>
    );
  return (
    <Review
      change={change}
      sent={reviews[0] ?? null}
      of={['looked', session.id, look]}
      ask={(query) => node.call('sessionChange', { params: { id: session.id }, query: { ...query, look } })}
      commenting={mayAct ? { comments, change: put } : null}
      choosing={
        mayAct && session.turn === null
          ? { leftOut, words: takingBack, toggle: (path, key) => setLeftOut(toggled(leftOut, path, key)) }
          : null
      }
      aside={aside}
    />
  );
};

/** The pull request of its environment: files are pushed between turns. */
const PullOf = ({ session, mayAct }: { readonly session: SessionView; readonly mayAct: boolean }) => {
  const { id } = session.environment;
  const { data } = useQuery({
    queryKey: ['environment', id],
    queryFn: () => node.call('environmentShow', { params: { id } }),
  });
  if (data === undefined) return null;
  return (
    <PullRequestPart subject={{ kind: 'environment', id, pull: data.pullRequest }} mayAct={mayAct && session.turn === null} />
  );
};

/** The message is an input: the next one, or into the turn that runs. */
const useWays = (session: SessionView): readonly Way[] => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const send = (kind: 'prompt' | 'steer') => async (text: string, request: string) => {
    await node.call('turnAdd', { params: { id: session.id }, body: { text, kind, requestId: `${request}-${kind}` } });
    void queries.invalidateQueries();
    void navigate({ to: '/sessions/$name', params: { name: session.id } });
  };
  if (session.turn === null) return [{ name: 'Send to the agent', send: send('prompt') }];
  return [
    { name: 'Queue for the agent', send: send('prompt') },
    { name: 'Say it now', send: send('steer') },
  ];
};
