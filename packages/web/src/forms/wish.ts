// What a person wants done, as the fields of a form hold it, and what the node is asked for it.

import type { Project } from '@orrery/protocol';

export type Wish = {
  /** Name of a project, or a path or URL that becomes one. */
  readonly repository: string;
  /** An environment that is there; empty: one is made. */
  readonly environment: string;
  /** `harness:ID` or `agent:NAME`; empty: what the node takes by itself. */
  readonly who: string;
  readonly model: string;
  readonly effort: string;
  readonly backend: string;
  /** Empty: none is named. */
  readonly image: string;
  readonly base: string;
  readonly prompt: string;
};

export const emptyWish: Wish = {
  repository: '',
  environment: '',
  who: '',
  model: '',
  effort: '',
  backend: '',
  image: '',
  base: '',
  prompt: '',
};

/** Which work is meant, and who does it; the codes of the catalogue that are about each field. */
export const inEnvironmentFields = {
  who: ['harness_not_installed', 'unknown_name', 'unsupported'],
  model: [],
  effort: [],
  mode: [],
  prompt: ['empty_input', 'input_too_large'],
} as const;

/** With the place, which is not asked for in an environment that is there: what is refused of it is then about all of the form. */
export const wishFields = {
  repository: ['repository_unusable', 'not_found', 'path_refused'],
  backend: ['backend_forbidden', 'backend_unavailable', 'backend_unreachable', 'guarantee_missing'],
  image: [],
  base: ['git_failed'],
  ...inEnvironmentFields,
} as const;

/** The project of that name, id or source. */
export const projectNamed = (projects: readonly Project[], words: string): Project | undefined =>
  projects.find(({ id, name, source }) => [id, name, source].includes(words.trim()));

/** What was chosen or written, under the names of the protocol; what was left out is left out. */
export const saidOf = ({ who, model, effort, backend, image, base, prompt }: Wish): Readonly<Record<string, string>> => {
  const [kind, name = ''] = who === '' ? [] : who.split(/:(.*)/s);
  const all = {
    ...(kind === 'harness' ? { harness: name } : kind === 'agent' ? { agent: name } : {}),
    model,
    effort,
    backend,
    image,
    base,
    prompt,
  };
  return Object.fromEntries(
    Object.entries(all)
      .map(([field, value]) => [field, field === 'prompt' ? value : value.trim()] as const)
      .filter(([, value]) => value.trim() !== ''),
  );
};
