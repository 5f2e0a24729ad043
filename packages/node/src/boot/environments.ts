import { appendAudit } from '../audit/index.ts';
import { createEnvironments, type EnvironmentConductor, type Environments } from '../environment/index.ts';
import { pullRequestsOf } from '../pull-request/index.ts';
import { liveSessions } from '../session/index.ts';
import { clock, ids, type Parts } from './parts.ts';
import { checkTakesImage, settleRequest } from './settle-request.ts';

const DAY_MS = 86_400_000;

/** The use cases of named environments, on the slices that are really there. */
export const openNamedEnvironments = (
  parts: Parts,
  given: { readonly checkRoom: () => void; readonly conductor: () => EnvironmentConductor },
): Environments => {
  const { store, projects, workspace, config, backends, environmentsDirectory } = parts;
  return createEnvironments({
    store,
    clock,
    ids,
    resolveProject: projects.resolve,
    projectsById: projects.byIds,
    admit: async ({ projectId, backend: asked, base, image }) => {
      const sha = await projects.resolveBase(projectId, base);
      const { settings } = await projects.readHooks(projectId, sha);
      const request = { ...(asked === null ? {} : { backend: asked }), ...(image === null ? {} : { image }) };
      const settled = await settleRequest(parts, { request, projectId, projectFile: settings });
      const backend = backends.get(settled.backend);
      checkTakesImage(backend, request.image);
      await backend.preflight(backend.defaultRequired);
      return backend.name;
    },
    checkRoom: given.checkRoom,
    unsaved: async (id) => {
      const checkout = await workspace.checkoutOf(id);
      return checkout === null ? [] : workspace.unsaved(checkout.id);
    },
    diskLimitBytes: () => config.current().limits.diskBytes,
    keptForMs: () => {
      const days = config.current().retention.environmentDays;
      return days === null ? null : days * DAY_MS;
    },
    pullRequestsOf: (of) => pullRequestsOf(store, 'environment', of),
    heldBy: async (id) => {
      const session = (await liveSessions(store.read)).find(({ environment_id }) => environment_id === id);
      return session === undefined ? null : `the session ${session.name}`;
    },
    pruned: async ({ id, name, actor, unusedMs }) => {
      const detail = { name, unusedDays: Math.floor(unusedMs / DAY_MS) };
      const record = { actor, action: 'environment.prune', subject: id, outcome: 'done', detail } as const;
      await store.transaction((tx) => appendAudit(tx.db, record, clock.nowMs()));
    },
    environmentsDirectory,
    conductor: given.conductor,
  });
};
