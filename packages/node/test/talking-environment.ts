// The environment of places in which sessions talk.

import { settings } from './run-parts.ts';

export const ENVIRONMENT = 'env_place';

const prepared = {
  ...{ baseSha: 'a'.repeat(40), baseName: 'main', hooks: [], settings },
  place: { checkoutId: 'checkout', path: '/place', readOnly: [], reads: [] },
};

/** Its row: it is ready. */
export const environmentRow = {
  ...{ id: ENVIRONMENT, request_id: 'env', intent: '{}', name: 'place', project_id: 'prj_1', backend: 'fake', image: null },
  ...{ state: 'ready', operation: null, reason: null, setup: '{"state":"none"}', setup_key: null, base: null, base_sha: null },
  ...{
    branch: 'main',
    prepared: JSON.stringify(prepared),
    spec: JSON.stringify({ spec: { workdir: '/place', home: '/own' } }),
    ports: '{}',
    open: 1,
    wanted: 'running',
    task_id: null,
    forked_from: null,
  },
  ...{ salvage: 0, disk_bytes: null, disk_at: null, created_at: 1, changed_at: 1, used_at: 1, deleted_at: null },
};

/** What never changes in these tests. */
export const still = {
  setBudget: async () => undefined,
  budgetTold: () => undefined,
  checkMode: () => undefined,
  canSteer: () => true,
  place: async () => ({ id: ENVIRONMENT, name: 'talk', projectId: 'prj_1' }),
  branchPlace: async () => async () => ({ id: ENVIRONMENT, name: 'talk-2', projectId: 'prj_1' }),
  resolveProject: async () => ({ id: 'prj_1', name: 'demo' }),
  projectsById: async () => new Map<never, never>(),
  environmentsById: async () => new Map<never, never>(),
};
