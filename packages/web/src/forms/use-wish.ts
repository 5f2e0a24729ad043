import type { Project } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { node, requestId } from '../state/node.ts';
import { errorsAt } from './errors.ts';
import { emptyWish, inEnvironmentFields, projectNamed, wishFields, type Wish } from './wish.ts';

/** Projects; a form for one of them waits for them. */
export const useProjects = () =>
  useQuery({ queryKey: ['projects'], queryFn: () => node.call('projectList', { query: { limit: 200 } }) });

/** The fields of a form, and sending what they say. `send` is given the same request id until it succeeded or the wish changed. */
export const useWish = (projects: readonly Project[], send: (wish: Wish, requestId: string) => Promise<void>) => {
  const search: { readonly project?: string; readonly environment?: string } = useSearch({ strict: false });
  const first = projects.find(({ id }) => id === search.project) ?? projects[0];
  const [said, setSaid] = useState<Partial<Wish>>({});
  // What nobody said follows what is known: projects that come to be known later, too.
  const wish: Wish = { ...emptyWish, repository: first?.name ?? '', environment: search.environment ?? '', ...said };
  const queries = useQueryClient();
  const request = useRef<string | null>(null);
  const sending = useMutation({
    mutationFn: () => send(wish, (request.current ??= requestId())),
    onSuccess: () => {
      request.current = null;
    },
    onSettled: () => void queries.invalidateQueries(),
  });
  const set = (change: Partial<Wish>): void => {
    request.current = null;
    setSaid({ ...said, ...change });
  };
  return { wish, set, sending, at: errorsAt(sending.error, wish.environment === '' ? wishFields : inEnvironmentFields) };
};

/** The id of the project that is meant; a repository that is none yet becomes one. */
export const projectOf = async (projects: readonly Project[], words: string): Promise<string> => {
  const known = projectNamed(projects, words);
  return known?.id ?? (await node.call('projectAdd', { body: { source: words.trim() } })).id;
};
