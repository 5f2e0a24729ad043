import type { PermissionMode, Project } from '@orrery/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ChoiceField } from '../forms/field.tsx';
import { projectOf, useProjects, useWish } from '../forms/use-wish.ts';
import { saidOf } from '../forms/wish.ts';
import { PromptField, RepositoryField, WhereFields, WhoFields } from '../forms/work-fields.tsx';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';

const modes: readonly { readonly value: PermissionMode; readonly name: string }[] = [
  { value: 'ask', name: 'ask: before each tool that changes something' },
  { value: 'edits', name: 'edits: files without asking, else it asks' },
  { value: 'all', name: 'all: nothing is asked' },
  { value: 'plan', name: 'plan: it changes nothing' },
];

/** Begins a conversation with an agent. */
export const NewSessionPage = () => <Answer query={useProjects()}>{({ items }) => <NewSession projects={items} />}</Answer>;

const NewSession = ({ projects }: { readonly projects: readonly Project[] }) => {
  const navigate = useNavigate();
  const [mode, setMode] = useState<PermissionMode | ''>('');
  const { wish, set, sending, at } = useWish(projects, async (wanted, requestId) => {
    const where =
      wanted.environment === '' ? { project: await projectOf(projects, wanted.repository) } : { environment: wanted.environment };
    const body = { ...saidOf(wanted), ...where, ...(mode === '' ? {} : { mode }), requestId };
    const { id } = await node.call('sessionCreate', { body });
    await navigate({ to: '/sessions/$name', params: { name: id } });
  });
  const parts = { wish, set, at };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      <h1 className="font-semibold">New session</h1>
      {wish.environment === '' ? (
        <RepositoryField {...parts} projects={projects} />
      ) : (
        <p className="my-2">
          In the environment <code className="font-mono">{wish.environment}</code>
        </p>
      )}
      <PromptField {...parts} hint="Left out: it begins when you say something." />
      <WhoFields {...parts} projects={projects} />
      <ChoiceField
        label="Mode"
        hint="What the agent does without asking."
        value={mode}
        change={(value) => setMode(modes.find((one) => one.value === value)?.value ?? '')}
        choices={[{ value: '', name: "The agent's own, else ask" }, ...modes]}
        error={at('mode')}
      />
      {wish.environment === '' ? <WhereFields {...parts} /> : null}
      <Button
        look="main"
        type="submit"
        disabled={sending.isPending || (wish.environment === '' && wish.repository.trim() === '')}
      >
        {sending.isPending ? 'Beginning …' : 'Begin'}
      </Button>
      {at(null) === null ? null : <Failed error={at(null)} />}
    </form>
  );
};
