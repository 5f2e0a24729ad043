import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Backend, Environment, EnvironmentSpec } from '../exec/backend.ts';
import type { Store } from '../store/store.ts';
import { recordedEnvironment } from './record.ts';
import { environmentNotFound, type NamedRow } from './model.ts';
import { findNamed, namedById } from './named-store.ts';
import type { Environments } from './service.ts';
import { findEnvironment, newestOpenEnvironment } from './store.ts';

/** An environment that is open, seen from beside the work that it was opened for. */
export type OpenPlace = {
  readonly environmentId: string;
  readonly spec: EnvironmentSpec;
  readonly environment: Environment;
};

export type OpenPlaces = {
  /** What a reference names: an environment by its id or name, or a task. @throws OrreryError not_found, ambiguous */
  subject(reference: string): Promise<{ readonly environmentId: string } | { readonly taskId: string }>;
  /** By the same references. @throws OrreryError not_found, ambiguous, conflict when it is not open */
  find(reference: string): Promise<OpenPlace>;
};

export type OpenPlacesParts = {
  readonly store: Pick<Store, 'read'>;
  /** The backend of a name, allowed for new work or not. */
  readonly backend: (name: string) => Backend;
  readonly environments: Pick<Environments, 'open'>;
  /** The id of a task by what a person typed. @throws OrreryError not_found, ambiguous */
  readonly taskId: (reference: string) => Promise<string>;
};

/** Makes it. A view of an environment is made once and kept while the environment is open. */
export const createOpenPlaces = ({ store, backend, environments, taskId }: OpenPlacesParts): OpenPlaces => {
  const views = new Map<string, Promise<Environment>>();

  const view = (id: string, open: () => Promise<Environment>): Promise<Environment> => {
    const kept = views.get(id);
    if (kept !== undefined) return kept;
    const fresh = open();
    views.set(id, fresh);
    // What could not be opened is tried again by the next who asks.
    fresh.catch(() => views.delete(id));
    return fresh;
  };

  const ofNamed = async (row: NamedRow): Promise<OpenPlace> => {
    const environment = await environments.open(row.id);
    const { spec } = recordedEnvironment((await namedById(store.read, row.id))?.spec ?? row.spec ?? '');
    return { environmentId: row.id, spec, environment };
  };

  /** Who types a name means an environment: a missing one is not called a task. */
  const taskNamed = (reference: string): Promise<string> =>
    taskId(reference).catch((thrown: unknown) => {
      throw toOrreryError(thrown).code === 'not_found' && !reference.startsWith('tsk_') ? environmentNotFound(reference) : thrown;
    });

  const ofTask = async (reference: string): Promise<OpenPlace> => {
    const row = reference.startsWith('env_')
      ? await findEnvironment(store.read, reference)
      : await newestOpenEnvironment(store.read, await taskNamed(reference));
    if (row === null && reference.startsWith('env_')) throw environmentNotFound(reference);
    for (const id of views.keys()) if ((await findEnvironment(store.read, id))?.state !== 'open') views.delete(id);
    if (row?.state !== 'open') throw notOpen(reference);
    const { spec } = recordedEnvironment(row.spec);
    const environment = await view(row.id, () => backend(row.backend).reopen(spec));
    return { environmentId: row.id, spec, environment };
  };

  return {
    async subject(reference) {
      const named = await findNamed(store.read, reference);
      if (named !== null) return { environmentId: named.id };
      return reference.startsWith('env_') ? { environmentId: reference } : { taskId: await taskNamed(reference) };
    },
    async find(reference) {
      const named = await findNamed(store.read, reference);
      return named === null ? ofTask(reference) : ofNamed(named);
    },
  };
};

const notOpen = (reference: string): OrreryError =>
  new OrreryError('conflict', `${reference} has no open environment.`, {
    rule: 'The environment of a task is open while the task runs.',
    fix: 'orrery task list --state running',
  });
