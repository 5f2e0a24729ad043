import type { KeeperSpec } from '../../keeper/types.ts';
import { ownGrants, resolveGrants } from '../grants.ts';
import { renderKeeperSpec } from '../keeper-spec.ts';
import type { RenderInput } from '../keeper-spec.ts';
import { toolFolders, toolGrants } from '../tool-paths.ts';
import { systemGrants } from './system-grants.ts';

/** What the operator's options add to every run. */
export type SandboxSettings = { readonly toolPaths: readonly string[]; readonly unixSockets: boolean };

/**
 * What a keeper is told by the backend `sandbox`: files by an allow list, no network but the broker's front, own
 * processes. A program's own loopback servers need no grant: the loopback is the run's own.
 */
export const renderSandbox = (input: RenderInput, settings: SandboxSettings): KeeperSpec => {
  const { environment, run, disk, fence } = input;
  const grants = [
    ...systemGrants,
    ...toolGrants(settings.toolPaths),
    ...ownGrants(environment),
    ...environment.grants,
    ...run.grants,
  ];
  return renderKeeperSpec(
    { ...input, machine: { ...input.machine, toolFolders: toolFolders(settings.toolPaths, disk) } },
    {
      files: resolveGrants(grants, { home: environment.home, fence, disk }),
      readOnly: environment.readOnly,
      network: 'none',
      processes: true,
      unixSockets: settings.unixSockets,
    },
  );
};
