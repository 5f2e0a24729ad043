import { z } from 'zod';
import { done, id, operation } from './operation.ts';
import { salvage, salvagePrune, salvagePruned, salvageRestore, salvageRestored } from './salvage.ts';
import { pageOf, pageQuery } from './scalars.ts';

/** Operations on saved work. */
export const salvageOperations = {
  salvageList: operation({
    method: 'get',
    path: '/salvage',
    scope: 'viewer',
    summary: 'Saved work, newest first; archives of lost places stand on the first page.',
    query: pageQuery.extend({ project: z.string().max(200).optional() }),
    answer: pageOf(salvage),
  }),
  salvageShow: operation({
    method: 'get',
    path: '/salvage/:id',
    scope: 'viewer',
    summary: 'One saved state, with its files.',
    params: id,
    answer: salvage.extend({ paths: z.array(z.string()) }),
  }),
  salvageRestore: operation({
    method: 'post',
    path: '/salvage/:id/restore',
    scope: 'operator',
    summary: 'Make a branch of it in the repository, or a folder of an archive.',
    params: id,
    body: salvageRestore,
    answer: salvageRestored,
  }),
  salvageDelete: operation({
    method: 'delete',
    path: '/salvage/:id',
    scope: 'owner',
    summary: 'Delete saved work for good.',
    params: id,
    answer: done,
  }),
  salvagePrune: operation({
    method: 'post',
    path: '/salvage/prune',
    scope: 'owner',
    summary: 'Delete saved work that is older; a dry run says which.',
    body: salvagePrune,
    answer: salvagePruned,
  }),
} as const;
