import type { KeeperSpec } from '../../keeper/types.ts';
import { ownGrants, resolveGrants } from '../grants.ts';
import { renderKeeperSpec } from '../keeper-spec.ts';
import type { RenderInput } from '../keeper-spec.ts';

/**
 * What a keeper is told by the backend `local`: the program as it is, with no walls. Grants open nothing here, but a
 * required one that is missing is an error as everywhere.
 */
export const renderLocal = (input: RenderInput): KeeperSpec => {
  const { environment, run, disk, fence } = input;
  resolveGrants([...ownGrants(environment), ...environment.grants, ...run.grants], { home: environment.home, fence, disk });
  return renderKeeperSpec(input, null);
};
