import type { EnvironmentView, SessionView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Actions } from '../environments/actions.tsx';
import { usedBy } from '../environments/groups.ts';
import { Guarantees, useBackends } from '../environments/guarantees.tsx';
import { SetUp } from '../environments/set-up.tsx';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts, Line, Part } from '../parts/facts.tsx';
import { Previews } from '../parts/previews.tsx';
import { Failed, State } from '../parts/states.tsx';
import { ApplyWork } from '../review/apply-work.tsx';
import { PullRequestPart } from '../review/pull-request.tsx';
import { bytesText } from '../state/bytes.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';

const LISTED = 200;

/** One environment: what it is, who works in it, how it was set up, and what can be done to it. */
export const EnvironmentPage = () => {
  const { id } = useParams({ strict: false }) as { readonly id: string };
  const environment = useQuery({
    queryKey: ['environment', id],
    queryFn: () => node.call('environmentShow', { params: { id } }),
  });
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: LISTED } }) });
  return (
    <Answer query={environment}>
      {(shown) => (
        <>
          {sessions.error === null ? null : <Failed error={sessions.error} />}
          <Environment environment={shown} all={sessions.data?.items ?? []} />
        </>
      )}
    </Answer>
  );
};

type EnvironmentProps = { readonly environment: EnvironmentView; readonly all: readonly SessionView[] };

const Environment = ({ environment, all }: EnvironmentProps) => {
  const mayAct = useMayAct();
  const { sessions, why } = usedBy(environment, all);
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h1 className="said font-semibold">{environment.name}</h1>
        <State state={environment.state} />
        {environment.operation === null ? null : <span className="text-quiet">{environment.operation} …</span>}
        <Link to="/terminals/$name" params={{ name: environment.id }} className="text-accent underline">
          Terminals
        </Link>
        {mayAct ? (
          <Link to="/sessions/new" search={{ environment: environment.id }} className="text-accent underline">
            New session here
          </Link>
        ) : null}
      </div>
      {why === null ? null : <p className="said text-careful">! {why}</p>}
      {environment.reason === null ? null : <p className="said text-quiet">{environment.reason}</p>}
      {mayAct ? <Actions environment={environment} /> : null}
      <Part name="What it is">
        <Known environment={environment} />
      </Part>
      <Part name="Who works here">
        <Workers environment={environment} sessions={sessions} />
      </Part>
      {mayAct ? <ApplyWork environment={environment} still={environment.taskId === null} /> : null}
      <PullRequestPart subject={{ kind: 'environment', id: environment.id, pull: environment.pullRequest }} mayAct={mayAct} />
      <Part name="Set-up">
        <SetUp environment={environment} />
      </Part>
      {mayAct ? (
        <Part name="Ports">
          <Previews environment={environment.id} />
        </Part>
      ) : null}
    </>
  );
};

const Known = ({ environment }: { readonly environment: EnvironmentView }) => {
  const backends = useBackends();
  const { project, backend, image, base, branch, workdir, diskBytes, diskLimitBytes, forkedFrom, goesAt, name } = environment;
  return (
    <Facts
      facts={[
        ['project', project.name],
        ['backend', <Guarantees key="backend" backend={backend} of={backends} />],
        ['image', image],
        ['base', base],
        ['branch', branch],
        ['checkout', workdir],
        ['disk', diskText(diskBytes, diskLimitBytes)],
        ['copied from', forkedFrom],
        [
          'used',
          <span key="used">
            <Ago at={environment.usedAt} /> ago
          </span>,
        ],
        ['goes', goesAt === null ? null : `${new Date(goesAt).toLocaleString()}, unless somebody uses it before`],
        ['as command', <Line key="command">{`orrery env show ${name}`}</Line>],
      ]}
    />
  );
};

const diskText = (used: number | null, limit: number | null): string | null =>
  used === null ? null : limit === null ? bytesText(used) : `${bytesText(used)} of ${bytesText(limit)}`;

const Workers = (props: { readonly environment: EnvironmentView; readonly sessions: readonly SessionView[] }) => {
  const { taskId, name } = props.environment;
  if (props.sessions.length === 0 && taskId === null)
    return (
      <p className="text-quiet">
        Nobody works here now. <Line>{`orrery session start --env ${name} "…"`}</Line>
      </p>
    );
  return (
    <ul>
      {props.sessions.map(({ id, name: session, state, harness }) => (
        <li key={id} className="flex gap-x-3">
          <State state={state} />
          <Link to="/sessions/$name" params={{ name: id }} className="text-accent underline">
            {session}
          </Link>
          <span className="text-quiet">{harness}</span>
        </li>
      ))}
      {taskId === null ? null : (
        <li>
          <Link to="/tasks/$name" params={{ name: taskId }} className="text-accent underline">
            {taskId}
          </Link>
        </li>
      )}
    </ul>
  );
};
