// What a keeper in a place is told. The allow list is that of the sandbox, of the place's own disk.
import type { KeeperSpec } from '../../keeper/types.ts';
import type { EnvironmentSpec, PathGrant, RunSpec } from '../backend.ts';
import { ownGrants, resolveGrants } from '../grants.ts';
import type { Disk, Fence } from '../grants.ts';
import { renderKeeperSpec } from '../keeper-spec.ts';
import type { FrontSettings } from '../keeper-spec.ts';
import { systemGrants } from '../sandbox/system-grants.ts';
import type { PlaceLayout } from './layout.ts';
import type { PathMap } from './paths.ts';

/** What rendering needs to know of a place. */
export type PlaceView = {
  readonly layout: PlaceLayout;
  readonly paths: PathMap;
  readonly variables: Readonly<Record<string, string>>;
  /** Folders of the place that every program may read and execute, beside the system and PATH. */
  readonly toolPaths: readonly string[];
  /** Folders of the place that every program may write. */
  readonly ownPaths: readonly string[];
  readonly disk: Disk;
  readonly front: FrontSettings & { readonly port: number };
  /** Required of keepers; what the place itself gives is not asked of them. */
  readonly required: EnvironmentSpec['required'];
  /** Whether the place itself has no network: then its loopback is what its programs share, and keepers build none of their own. */
  readonly networkHeld: boolean;
};

const mapGrants = (grants: readonly PathGrant[], paths: PathMap): PathGrant[] =>
  grants.map((grant) => (grant.scope === 'home' ? grant : { ...grant, path: paths.path(grant.path) ?? grant.path }));

const mapAll = (paths: PathMap, list: readonly string[]): string[] => list.map((path) => paths.path(path) ?? path);

/** An environment as it is called in its place. */
export const environmentInside = (spec: EnvironmentSpec, { layout, paths, required }: PlaceView): EnvironmentSpec => ({
  ...spec,
  workdir: paths.path(spec.workdir) ?? layout.work,
  home: paths.path(spec.home) ?? layout.home,
  scratchpad: paths.path(spec.scratchpad) ?? layout.tmp,
  grants: mapGrants(spec.grants, paths),
  readOnly: mapAll(paths, spec.readOnly),
  brokerSocket: layout.brokerSocket,
  required,
});

/** A run as it is called there: every path of this machine that the environment knows is another one, wherever it is named. */
export const runInside = (run: RunSpec, paths: PathMap): RunSpec => ({
  ...run,
  command: paths.text(run.command),
  args: run.args.map(paths.text),
  cwd: paths.path(run.cwd) ?? run.cwd,
  grants: mapGrants(run.grants, paths),
  env: Object.fromEntries(Object.entries(run.env).map(([name, value]) => [name, paths.text(value)])),
});

/** Where runs have their directories, nobody is granted anything. */
const fenceOf = ({ layout }: PlaceView): Fence => ({
  notAround: [layout.runs, layout.keeper],
  notInside: layout.runs,
  except: layout.provided,
});

/** What every program may touch of the place: the system, and the folders its programs lie in. */
export const placeGrants = ({
  variables,
  toolPaths,
  ownPaths,
}: Pick<PlaceView, 'variables' | 'toolPaths' | 'ownPaths'>): PathGrant[] => {
  const folders = (variables['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const granted = (access: PathGrant['access']) => (path: string) =>
    ({ path, access, scope: 'absolute', provenance: 'environment', required: false }) as const;
  return [...systemGrants, ...[...folders, ...toolPaths].map(granted('rox')), ...ownPaths.map(granted('rwx'))];
};

/** Every path that a run wants of the place: what has to be known of its disk before it is rendered. */
export const pathsWanted = (spec: EnvironmentSpec, run: RunSpec, view: PlaceView): string[] => {
  const inside = environmentInside(spec, view);
  const grants = [...inside.grants, ...runInside(run, view.paths).grants];
  return grants.flatMap(({ path, scope }) => (scope === 'home' ? [`${inside.home}/${path}`] : [path]));
};

/** What the keeper of a run is told. Pure. */
export const renderInPlace = (spec: EnvironmentSpec, run: RunSpec, view: PlaceView): KeeperSpec => {
  const environment = environmentInside(spec, view);
  const mapped = runInside(run, view.paths);
  const { variables, disk, front } = view;
  const grants = [...placeGrants(view), ...ownGrants(environment), ...environment.grants, ...mapped.grants];
  const fence = fenceOf(view);
  const path = variables['PATH'];
  const machine = { variables, user: variables['USER'] ?? 'agent', ...(path === undefined ? {} : { path }) };
  const input = { environment, run: mapped, machine, disk, fence, front };
  return renderKeeperSpec(input, {
    files: resolveGrants(grants, { home: environment.home, fence, disk }),
    readOnly: environment.readOnly,
    network: view.networkHeld ? 'host' : 'none',
    processes: true,
    unixSockets: false,
  });
};
