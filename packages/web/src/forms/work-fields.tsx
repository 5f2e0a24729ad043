import type { Project } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { node } from '../state/node.ts';
import { ChoiceField, LineField, WordsField, type Choice } from './field.tsx';
import { BackendFields } from './where-fields.tsx';
import { projectNamed, type Wish } from './wish.ts';

export type WishProps = {
  readonly wish: Wish;
  readonly set: (change: Partial<Wish>) => void;
  /** What was refused of a field. */
  readonly at: (field: string | null) => unknown;
};

/** Which repository: a project by its name, or one that is none yet. */
export const RepositoryField = ({ wish, set, at, projects }: WishProps & { readonly projects: readonly Project[] }) => (
  <LineField
    label="Repository"
    focus={wish.repository === ''}
    value={wish.repository}
    change={(repository) => set({ repository })}
    choices={projects.map(({ name }) => name)}
    placeholder="/home/me/my-project"
    hint={
      projects.length === 0
        ? 'A path on the machine of the node, or a URL. It becomes your first project.'
        : 'A project, or a path or URL that becomes one. Its files are not touched while an agent works.'
    }
    error={at('repository')}
  />
);

/** Programs and agents that can be chosen for a project. */
const useWho = (project: string | undefined): readonly Choice[] => {
  const harnesses = useQuery({ queryKey: ['harnesses'], queryFn: () => node.call('harnessList') });
  const agents = useQuery({
    queryKey: ['agents', project ?? ''],
    queryFn: () => node.call('agentList', { query: project === undefined ? {} : { project } }),
  });
  const usual = harnesses.data?.items.find(({ isDefault }) => isDefault);
  return [
    { value: '', name: usual === undefined ? "The node's default" : `${usual.id} (default)` },
    ...(agents.data?.items ?? []).map(({ name, source, problem }) => ({
      value: `agent:${source}:${name}`,
      name: problem === null ? `${name} (agent, ${source})` : `${name} (cannot be used)`,
      disabled: problem !== null,
    })),
    ...(harnesses.data?.items ?? [])
      .filter(({ id, isDefault }) => !isDefault && id !== 'command')
      .map(({ id, pinnedVersion, installedVersion }) => ({
        value: `harness:${id}`,
        name: pinnedVersion !== null && installedVersion === null ? `${id} (not installed)` : id,
      })),
  ];
};

/** Models that a program reported; none are known of what an agent's file chooses. */
const useModels = (who: string) => {
  const harnesses = useQuery({ queryKey: ['harnesses'], queryFn: () => node.call('harnessList') });
  const usual = harnesses.data?.items.find(({ isDefault }) => isDefault)?.id;
  const id = who === '' ? usual : who.startsWith('harness:') ? who.slice('harness:'.length) : undefined;
  const { data } = useQuery({
    queryKey: ['harness', id, 'models'],
    queryFn: () => node.call('harnessModels', { params: { id: id ?? '' } }),
    enabled: id !== undefined,
  });
  return data?.models ?? [];
};

/** Who works, and with what. */
export const WhoFields = ({ wish, set, at, projects }: WishProps & { readonly projects: readonly Project[] }) => {
  const choices = useWho(projectNamed(projects, wish.repository)?.id);
  const models = useModels(wish.who);
  const efforts = models.find(({ id, model }) => [id, model].includes(wish.model))?.efforts ?? [];
  return (
    <>
      <ChoiceField label="Agent" value={wish.who} change={(who) => set({ who })} choices={choices} error={at('who')} />
      <LineField
        label="Model"
        value={wish.model}
        change={(model) => set({ model })}
        choices={models.map(({ id }) => id)}
        hint={
          models.length === 0
            ? "Left out: the program's own choice. It has reported no models yet."
            : "Left out: the program's own choice."
        }
        error={at('model')}
      />
      <LineField
        label="Effort"
        value={wish.effort}
        change={(effort) => set({ effort })}
        choices={efforts}
        hint="How hard the model thinks, where it can be told."
        error={at('effort')}
      />
    </>
  );
};

/** Where it works. */
export const WhereFields = ({ wish, set, at }: WishProps) => (
  <>
    <BackendFields where={wish} set={set} at={at} />
    <LineField
      label="Base"
      value={wish.base}
      change={(base) => set({ base })}
      hint="Branch, tag or commit to begin at. Left out: what the repository has checked out."
      error={at('base')}
    />
  </>
);

export const PromptField = ({ wish, set, at, hint }: WishProps & { readonly hint: string }) => (
  <WordsField
    label="What is to be done"
    value={wish.prompt}
    change={(prompt) => set({ prompt })}
    focus={wish.repository !== ''}
    hint={hint}
    placeholder="find out why the test of the login fails, and mend it"
    error={at('prompt')}
  />
);
