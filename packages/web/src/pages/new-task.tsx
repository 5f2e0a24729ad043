import type { Project } from '@orrery/protocol';
import { useNavigate } from '@tanstack/react-router';
import { projectOf, useProjects, useWish } from '../forms/use-wish.ts';
import { saidOf } from '../forms/wish.ts';
import { PromptField, RepositoryField, WhereFields, WhoFields } from '../forms/work-fields.tsx';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** Gives a task to an agent; the scripts of its repository check the result. */
export const NewTaskPage = () => <Answer query={useProjects()}>{({ items }) => <NewTask projects={items} />}</Answer>;

const NewTask = ({ projects }: { readonly projects: readonly Project[] }) => {
  const navigate = useNavigate();
  const { wish, set, sending, at } = useWish(projects, async (wanted, requestId) => {
    const project = await projectOf(projects, wanted.repository);
    const { id } = await node.call('taskAdd', { body: { prompt: wanted.prompt, ...saidOf(wanted), project, requestId } });
    await navigate({ to: '/tasks/$name', params: { name: id } });
  });
  const parts = { wish, set, at };
  const hooks = projects.find(({ name }) => name === wish.repository)?.hooks ?? [];
  const can = wish.repository.trim() !== '' && wish.prompt.trim() !== '' && !sending.isPending;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      <h1 className="font-semibold">New task</h1>
      <RepositoryField {...parts} projects={projects} />
      <PromptField
        {...parts}
        hint={
          hooks.includes('validation')
            ? "The repository's own script checks the result, and sends the agent back."
            : 'Nothing in this repository checks the result: .orrery/hooks/validation.sh would.'
        }
      />
      <WhoFields {...parts} projects={projects} />
      <WhereFields {...parts} />
      <Button look="main" type="submit" disabled={!can}>
        {sending.isPending ? 'Giving …' : 'Give it'}
      </Button>
      {at(null) === null ? null : <Failed error={at(null)} />}
    </form>
  );
};
