import type { EnvironmentSpec } from '../exec/backend.ts';
import type { WorkPlace } from './doors.ts';

/** The objects that a checkout borrows, for places that do not see where they are. */
export const borrowsOf = (place: WorkPlace, baseSha: string | null): Pick<EnvironmentSpec, 'borrows'> => {
  const [objects] = place.reads;
  return objects === undefined || baseSha === null
    ? {}
    : { borrows: { objects, commits: [baseSha, ...(place.modules ?? []), ...(place.commits ?? [])] } };
};
