import { join } from 'node:path';
import type { KeeperSpec } from '../../keeper/types.ts';
import type { PathGrant } from '../backend.ts';
import { ownGrants, resolveGrants } from '../grants.ts';
import { renderKeeperSpec } from '../keeper-spec.ts';
import type { RenderInput } from '../keeper-spec.ts';
import { systemGrants } from './system-grants.ts';

/** What the operator's options add to every run. */
export type SandboxSettings = { readonly toolPaths: readonly string[]; readonly unixSockets: boolean };

const toolGrant = (path: string): PathGrant => ({
  path,
  access: 'rox',
  scope: 'absolute',
  provenance: 'environment',
  required: true,
});

/**
 * What a keeper is told by the backend `sandbox`: files by an allow list, no network but the broker's front, own
 * processes. A program's own loopback servers need no grant: the loopback is the run's own.
 */
export const renderSandbox = (input: RenderInput, settings: SandboxSettings): KeeperSpec => {
  const { environment, run, disk, fence } = input;
  const grants = [
    ...systemGrants,
    ...settings.toolPaths.map(toolGrant),
    ...ownGrants(environment),
    ...environment.grants,
    ...run.grants,
  ];
  const toolFolders = settings.toolPaths.map((path) => (disk.exists(join(path, 'bin')) ? join(path, 'bin') : path));
  return renderKeeperSpec(
    { ...input, machine: { ...input.machine, toolFolders } },
    {
      files: resolveGrants(grants, { home: environment.home, fence, disk }),
      readOnly: environment.readOnly,
      network: 'none',
      processes: true,
      unixSockets: settings.unixSockets,
    },
  );
};
