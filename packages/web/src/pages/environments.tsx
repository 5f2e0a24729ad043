import type { Project } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { inGroups, usedBy, type Used } from '../environments/groups.ts';
import { Guarantees, useBackends } from '../environments/guarantees.tsx';
import { Ago } from '../parts/ago.tsx';
import { Empty, Failed, Loading, Stale, State } from '../parts/states.tsx';
import { bytesText } from '../state/bytes.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';

const LISTED = 200;

/** Environments of each project: what needs a person, where something is done, the rest. */
export const EnvironmentsPage = () => {
  const environments = useQuery({
    queryKey: ['environments'],
    queryFn: () => node.call('environmentList', { query: { limit: LISTED } }),
  });
  const projects = useQuery({ queryKey: ['projects'], queryFn: () => node.call('projectList', { query: { limit: LISTED } }) });
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: LISTED } }) });
  const mayAct = useMayAct();
  const error = environments.error ?? projects.error ?? sessions.error;
  if (environments.data === undefined || projects.data === undefined || sessions.data === undefined)
    return error === null ? <Loading /> : <Failed error={error} />;
  const used = environments.data.items.map((environment) => usedBy(environment, sessions.data.items));
  return (
    <>
      <h1 className="sr-only">Environments</h1>
      <Stale error={error} />
      {projects.data.items.length === 0 ? (
        <Empty command="orrery project add PATH">There is no project yet, and an environment belongs to one.</Empty>
      ) : null}
      {projects.data.items.map((project) => (
        <OfProject
          key={project.id}
          project={project}
          used={used.filter((one) => one.environment.project.id === project.id)}
          mayAct={mayAct}
        />
      ))}
      {environments.data.nextCursor === null ? null : <p className="py-2 text-quiet">Only the first {LISTED} are shown.</p>}
    </>
  );
};

const OfProject = (props: { readonly project: Project; readonly used: readonly Used[]; readonly mayAct: boolean }) => (
  <section aria-label={props.project.name} className="mb-4">
    <div className="flex flex-wrap items-baseline gap-x-3 border-b border-line pb-1">
      <h2 className="font-semibold">{props.project.name}</h2>
      <span className="said min-w-0 text-quiet">{props.project.source}</span>
      {props.mayAct ? (
        <Link to="/environments/new" search={{ project: props.project.id }} className="ml-auto text-accent underline">
          New environment
        </Link>
      ) : null}
    </div>
    {props.used.length === 0 ? <p className="py-1 text-quiet">It has no environment of its own.</p> : null}
    {inGroups(props.used).map(({ name, items }) => (
      <div key={name}>
        <h3 className="pt-2 text-quiet">{name}</h3>
        <ul aria-label={`${props.project.name}: ${name}`}>
          {items.map((one) => (
            <Row key={one.environment.id} used={one} />
          ))}
        </ul>
      </div>
    ))}
  </section>
);

const Row = ({ used: { environment, sessions, why } }: { readonly used: Used }) => {
  const backends = useBackends();
  return (
    <li className="flex min-h-7 flex-wrap items-baseline gap-x-3 border-b border-line py-1">
      <span className="w-24">
        <State state={environment.state} />
      </span>
      <Link data-row="" to="/environments/$id" params={{ id: environment.id }} className="font-semibold hover:underline">
        {environment.name}
      </Link>
      <Guarantees backend={environment.backend} of={backends} />
      {sessions.map(({ id, name }) => (
        <Link key={id} to="/sessions/$name" params={{ name: id }} className="text-accent underline">
          {name}
        </Link>
      ))}
      {environment.taskId === null ? null : (
        <Link to="/tasks/$name" params={{ name: environment.taskId }} className="text-accent underline">
          {environment.taskId}
        </Link>
      )}
      {environment.diskBytes === null ? null : <span className="text-quiet">{bytesText(environment.diskBytes)}</span>}
      {why === null ? null : <span className="said text-careful">! {why}</span>}
      <span className="ml-auto">
        <Ago at={environment.usedAt} />
      </span>
    </li>
  );
};
