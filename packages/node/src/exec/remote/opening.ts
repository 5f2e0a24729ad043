// Opening an environment in a place, and finding one again. Each step is on disk before the next, and can be done twice.
import { randomInt } from 'node:crypto';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport } from '../../keeper/types.ts';
import type { Environment, EnvironmentSpec } from '../backend.ts';
import { checkGuarantees } from '../guarantee-check.ts';
import { SANDBOX_FRONT_PORT } from '../limits.ts';
import { createBelongings } from './belongings.ts';
import type { ObjectPacks } from './borrowed-objects.ts';
import { unreachable } from './command.ts';
import { createCustody } from './custody.ts';
import { furnish } from './furnish.ts';
import { gonePlace } from './gone-place.ts';
import { createHealing } from './healing.ts';
import type { PlaceSight } from './healing.ts';
import { layoutOf } from './layout.ts';
import { createLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { RETRY_FIRST_MS, RETRY_MOST_MS, SHARED_PORT_FIRST, SHARED_PORT_LAST } from './limits.ts';
import { keptOf, pairsOf, stageAll, treesOf } from './opening-trees.ts';
import type { Line } from './patience.ts';
import { patiently } from './patience.ts';
import type { Place, PlaceProvider } from './place.ts';
import type { PlaceDirectory, PlaceRecord } from './record.ts';
import { serveBroker } from './relay.ts';
import { createRemoteEnvironment } from './remote-environment.ts';
import { createRemoteKeeper } from './remote-keeper.ts';
import { placeGrants } from './render.ts';
import type { PlaceView } from './render.ts';
import type { RemoteSettings } from './settings.ts';
import type { SharedPrograms } from './shared-programs.ts';
import type { Stager } from './staging.ts';
import { survey } from './survey.ts';
import type { Survey } from './survey.ts';

/** What opening works with. */
export type Opening = RemoteSettings & {
  readonly provider: PlaceProvider;
  readonly packs: ObjectPacks;
  readonly programs: SharedPrograms;
  /** How each open view is let go of; a closed one is not among them. */
  readonly views: Set<() => void>;
  /** Aborted when the node stops: nothing waits for a place any more. */
  readonly stopping: AbortSignal;
};

type Opened = { readonly spec: EnvironmentSpec; readonly ledger: Ledger };

/** Reports of keepers in the place, where the place itself says nothing of them. */
export const mergeReports = (provided: readonly GuaranteeReport[], probed: readonly GuaranteeReport[]): GuaranteeReport[] =>
  probed.map((report) => provided.find(({ guarantee }) => guarantee === report.guarantee) ?? report);

type DroppableLine = Line & { readonly drop: () => void };

const lineTo = (opening: Opening, place: Place): DroppableLine => {
  const over = new AbortController();
  const { clock, patienceMs, stopping } = opening;
  return {
    place,
    layout: layoutOf(place),
    clock,
    patienceMs,
    over: AbortSignal.any([over.signal, stopping]),
    drop: () => over.abort(dropped()),
  };
};

const dropped = (): OrreryError => new OrreryError('stale', 'The environment is closed.');

/** Keeps the way to the broker open, and notes how the view is let go of when the node stops. */
const keepWays = ({ views }: Opening, line: DroppableLine, brokerSocket: string | null) => {
  const broker = brokerSocket === null ? null : serveBroker(line, brokerSocket);
  const leave = (): void => broker?.stop();
  const drop = (): void => {
    views.delete(letGo);
    line.drop();
  };
  const letGo = (): void => {
    leave();
    drop();
    line.place.detach();
  };
  views.add(letGo);
  return { leave, drop, letGo };
};

const foldersOf = ({ toolPaths = [], ownPaths = [] }: PlaceProvider): Pick<PlaceView, 'toolPaths' | 'ownPaths'> => ({
  toolPaths,
  ownPaths,
});

/** Paths of its system that programs may have: whether they are there is asked once. */
const pathsAsked = ({ provider }: Opening, { variables }: Place): string[] =>
  placeGrants({ variables, ...foldersOf(provider) }).map(({ path }) => path);

type Seen = Opened & { readonly ready: boolean; readonly known?: Survey };

/** The view of an environment, in this place and in those that take its part where files outlive places. */
const viewOf = async (opening: Opening, place: Place, seen: Seen): Promise<Environment> => {
  const { spec, ledger } = seen;
  const first = await sightOf(opening, place, seen);
  // What was never open has nothing to go on with.
  if (!seen.ready) return first.environment;
  const again = async (): Promise<PlaceSight | null> => {
    const other = await reviveNoted(opening, seen);
    return other === null ? null : sightOf(opening, other, { spec, ledger, ready: true });
  };
  return createHealing({ spec, first, again });
};

/** What an environment is in one place. The place may be gone: then everything asked of it says so. */
const sightOf = async (opening: Opening, place: Place, { spec, ledger, ready, known }: Seen): Promise<PlaceSight> => {
  const { provider, front, atStep } = opening;
  const line = lineTo(opening, place);
  const asked = pathsAsked(opening, place);
  const found = ready ? (known ?? (await survey(line, asked))) : null;
  const stager = { line, trees: opening.trees };
  const guarantees = found === null ? provider.provides : mergeReports(provider.provides, found.guarantees);
  const held = provider.provides.filter((report) => report.held).map(({ guarantee }) => guarantee);
  const view = {
    layout: line.layout,
    variables: place.variables,
    ...foldersOf(provider),
    front: { ...front, port: ledger.record.frontPort },
    required: spec.required.filter((name) => !held.includes(name)),
    networkHeld: held.includes('network'),
  };
  const trees = treesOf(spec, place, line.layout);
  const kept = keptOf(spec, place, line.layout);
  const { letGo, ...ways } = keepWays(opening, line, ready ? spec.brokerSocket : null);
  const environment = createRemoteEnvironment(
    {
      backend: provider.name,
      spec,
      line,
      keeper: createRemoteKeeper({ line, noteMemoryKills: (memoryKills) => ledger.change({ memoryKills }) }),
      ledger,
      belongings: createBelongings(stager, ledger, opening),
      custody: createCustody({ stager, ledger, trees, kept, revive: reviver(opening, { spec, ledger }), atStep, ...ways }),
      guarantees,
      view,
      system: found?.present ?? new Set(),
    },
    asked,
  );
  return { environment, leave: ways.leave, letGo };
};

/** The broker's port inside: its own loopback has always the same; one that others use too gets one of its own. */
const portFor = ({ provider }: Opening): number =>
  provider.provides.some(({ guarantee, held }) => guarantee === 'network' && held)
    ? SANDBOX_FRONT_PORT
    : randomInt(SHARED_PORT_FIRST, SHARED_PORT_LAST);

const newRecord = (opening: Opening, spec: EnvironmentSpec): PlaceRecord => ({
  version: 1,
  id: spec.id,
  taskId: spec.taskId,
  step: 'opening',
  ref: null,
  root: null,
  frontPort: portFor(opening),
  pairs: [],
  started: false,
  dirty: false,
  syncedAtMs: null,
  memoryKills: 0,
  lost: null,
});

/** Makes another place with the files of one that is gone, and notes it; null when they went with it. */
const reviveNoted = async ({ provider }: Opening, { spec, ledger }: Opened): Promise<Place | null> => {
  const place = (await provider.revive?.(spec.id, ledger.record.ref ?? {})) ?? null;
  if (place !== null) await ledger.change({ ref: { ...place.ref }, memoryKills: 0 });
  return place;
};

const reviver = (opening: Opening, opened: Opened) => async (): Promise<Stager | null> => {
  const place = await reviveNoted(opening, opened);
  return place === null ? null : { line: lineTo(opening, place), trees: opening.trees };
};

/** Directories that a place may see as they are. */
const mountableOf = ({ mountable }: Opening, spec: EnvironmentSpec) => [
  ...[spec.workdir, spec.home, spec.scratchpad].map((local) => ({ local, readOnly: false })),
  ...spec.grants
    .filter(({ provenance, scope, path }) => provenance === 'orrery' && scope === 'absolute' && path !== spec.workdir)
    .map(({ path, access }) => ({ local: path, readOnly: !access.includes('w') })),
  ...[...spec.readOnly, ...mountable].map((local) => ({ local, readOnly: true })),
];

const makePlace = (opening: Opening, spec: EnvironmentSpec): Promise<Place> => {
  const { provider, installation } = opening;
  const { wallMs: _wall, outputBytes: _output, ...limits } = spec.limits;
  const { id: environmentId, taskId, image, project } = spec;
  const asked = { environmentId, taskId, installation, image, project, keeps: spec.keepsHome === true, limits };
  const user = spec.user === undefined ? {} : { user: spec.user };
  return provider.create({ ...asked, ...user, mountable: mountableOf(opening, spec) }, () => undefined);
};

const alreadyOpen = (id: string): OrreryError =>
  new OrreryError('conflict', `The environment ${id} is open already.`, {
    rule: 'An environment is opened once.',
    fix: 'Reopen it to find its programs again.',
  });

/** Opens a new environment, or begins again with one that was not open yet when the node ended. */
export const openPlace = async (opening: Opening, directory: PlaceDirectory, spec: EnvironmentSpec): Promise<Environment> => {
  const { provider, atStep } = opening;
  const before = await directory.read();
  if (before?.started === true) throw alreadyOpen(spec.id);
  const record = before ?? newRecord(opening, spec);
  await directory.write(record);
  atStep('place-recorded');
  const ledger = createLedger(directory, record);
  const place = await makePlace(opening, spec);
  atStep('place-made');
  const pairs = pairsOf(spec, place, layoutOf(place));
  await ledger.change({ step: 'placed', ref: { ...place.ref }, root: place.root, pairs });
  atStep('place-noted');
  const line = lineTo(opening, place);
  const furnishing = { program: opening.keeperProgram, paths: pathsAsked(opening, place) };
  const known = await patiently(line, () => furnish(place, furnishing));
  checkGuarantees(provider.name, mergeReports(provider.provides, known.guarantees), spec.required);
  atStep('stage-in');
  await stageAll({ line, trees: opening.trees }, { ...opening, spec, ledger });
  await ledger.change({ step: 'staged-in' });
  atStep('staged-in');
  const environment = await viewOf(opening, place, { spec, ledger, ready: true, known });
  await ledger.change({ step: 'open' });
  atStep('place-open');
  return environment;
};

/** Finds the place of an environment that an earlier start of the node opened. One that is gone can only be closed. */
export const reopenPlace = async (opening: Opening, directory: PlaceDirectory, spec: EnvironmentSpec): Promise<Environment> => {
  const { provider } = opening;
  const record = await directory.read();
  if (record === null)
    throw new OrreryError('not_found', `The environment ${spec.id} was never opened by ${provider.name}, or it was closed.`, {
      fix: 'Open a new one.',
    });
  const ledger = createLedger(directory, record);
  const found = record.ref === null || record.step === 'removed' ? null : await findAgain(opening, spec.id, record.ref);
  const revived = found === null && record.step === 'open' ? await reviveNoted(opening, { spec, ledger }) : null;
  const place = found ?? revived ?? gonePlace(record, () => provider.sweep(spec.id));
  return viewOf(opening, place, { spec, ledger, ready: (found ?? revived) !== null && record.step === 'open' });
};

/** Not being able to tell is waited for, as long as a place may be out of reach. */
const findAgain = async (opening: Opening, id: string, ref: Readonly<Record<string, string>>): Promise<Place | null> => {
  const start = opening.clock.monotonicMs();
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MOST_MS)) {
    try {
      return await opening.provider.find(id, ref);
    } catch (thrown) {
      if (opening.clock.monotonicMs() - start >= opening.patienceMs)
        throw thrown instanceof OrreryError ? thrown : unreachable('nobody can tell whether it is there', thrown);
      await opening.clock.sleep(waitMs, opening.stopping);
    }
  }
};
