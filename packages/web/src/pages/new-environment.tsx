import type { Project } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { errorsAt } from '../forms/errors.ts';
import { ChoiceField, LineField } from '../forms/field.tsx';
import { useProjects } from '../forms/use-wish.ts';
import { BackendFields } from '../forms/where-fields.tsx';
import { Button } from '../parts/button.tsx';
import { Answer } from '../parts/answer.tsx';
import { Empty, Failed } from '../parts/states.tsx';
import { node, requestId } from '../state/node.ts';

const fields = {
  project: ['repository_unusable', 'not_found'],
  name: ['conflict'],
  backend: ['backend_forbidden', 'backend_unavailable', 'backend_unreachable', 'guarantee_missing', 'unknown_name'],
  image: [],
  base: ['git_failed'],
} as const;

/** Makes an environment of a project. */
export const NewEnvironmentPage = () => (
  <Answer query={useProjects()}>
    {({ items }) =>
      items.length === 0 ? (
        <Empty command="orrery project add PATH">There is no project yet, and an environment belongs to one.</Empty>
      ) : (
        <NewEnvironment projects={items} />
      )
    }
  </Answer>
);

type Asked = {
  readonly project: string;
  readonly name: string;
  readonly backend: string;
  readonly image: string;
  readonly base: string;
  readonly start: boolean;
  readonly noCache: boolean;
};

const useCreate = (asked: Asked) => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const request = useRef<{ readonly of: string; readonly id: string } | null>(null);
  return useMutation({
    mutationFn: () => {
      const { project, start, noCache } = asked;
      const body = { project, start, ...(noCache ? { noCache } : {}), ...said(asked) };
      // The same wish that is sent again after a failure is the same request.
      const of = JSON.stringify(body);
      if (request.current?.of !== of) request.current = { of, id: requestId() };
      return node.call('environmentCreate', { body: { ...body, requestId: request.current.id } });
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries();
      void navigate({ to: '/environments/$id', params: { id } });
    },
  });
};

const said = ({ name, backend, image, base }: Asked): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ name, backend, image, base })
      .map(([field, value]) => [field, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );

const NewEnvironment = ({ projects }: { readonly projects: readonly Project[] }) => {
  const search: { readonly project?: string } = useSearch({ strict: false });
  const first = projects.find(({ id }) => id === search.project) ?? projects[0];
  const [asked, setAsked] = useState<Asked>({
    project: first?.id ?? '',
    name: '',
    backend: '',
    image: '',
    base: '',
    start: true,
    noCache: false,
  });
  const create = useCreate(asked);
  const at = errorsAt(create.error, fields);
  const set = (change: Partial<Asked>): void => setAsked({ ...asked, ...change });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <h1 className="font-semibold">New environment</h1>
      <Fields asked={asked} set={set} at={at} projects={projects} />
      <Checked name="Start it at once, and set it up" value={asked.start} change={(start) => set({ start })} />
      <Checked
        name="Run the set-up also where an earlier one left its state"
        value={asked.noCache}
        change={(noCache) => set({ noCache })}
      />
      <Button look="main" type="submit" disabled={create.isPending}>
        Make it
      </Button>
      {at(null) === null ? null : <Failed error={at(null)} />}
    </form>
  );
};

type FieldsProps = {
  readonly asked: Asked;
  readonly set: (change: Partial<Asked>) => void;
  readonly at: (field: string | null) => unknown;
  readonly projects: readonly Project[];
};

const Fields = ({ asked, set, at, projects }: FieldsProps) => {
  const project = projects.find(({ id }) => id === asked.project);
  const begins = project?.defaultBranch ?? 'what the repository has checked out';
  return (
    <>
      <ChoiceField
        label="Project"
        focus
        value={asked.project}
        change={(value) => set({ project: value })}
        choices={projects.map(({ id, name }) => ({ value: id, name }))}
        error={at('project')}
      />
      <LineField
        label="Name"
        hint="Left out: the project's name and a number."
        value={asked.name}
        change={(name) => set({ name })}
        error={at('name')}
      />
      <BackendFields where={asked} set={set} at={at} />
      <LineField
        label="Base"
        hint={`Branch, tag or commit to begin at. Left out: ${begins}.`}
        value={asked.base}
        change={(base) => set({ base })}
        error={at('base')}
      />
    </>
  );
};

const Checked = (props: { readonly name: string; readonly value: boolean; readonly change: (value: boolean) => void }) => (
  <label className="my-1 flex gap-2">
    <input type="checkbox" checked={props.value} onChange={({ target }) => props.change(target.checked)} /> {props.name}
  </label>
);
