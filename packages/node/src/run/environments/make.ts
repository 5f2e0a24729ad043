import { OrreryError } from '@orrery/protocol';
import {
  branchOfEnvironment,
  imageAsked,
  namedById,
  noteInSetupLog,
  portsOf,
  setupOf,
  setupPending,
  type EnvironmentBranch,
  type NamedPorts,
  type NamedRow,
  type RecordedEnvironment,
  type SetupRecord,
} from '../../environment/index.ts';
import { copyTree } from '../../files/copy-tree.ts';
import type { AttemptSettings, ConductorParts, HookName, WorkPlace } from '../doors.ts';
import { settleImage } from './image.ts';
import { makePlace, namedSpec, placePaths, preparedOf, writeScripts, type NamedPrepared } from './place.ts';
import { scriptsOf } from './setup.ts';
import { keyOf, takeState } from './setup-cache.ts';
import { record, type Step } from './step.ts';

/** `create` and `fork`: a checkout, directories and scripts; nothing runs yet. */
export const make = async (step: Step, row: NamedRow): Promise<void> => {
  const { parts } = step;
  const source = row.forked_from === null || row.operation !== 'fork' ? null : await sourceOf(parts, row);
  const made = source === null ? await prepareNew(parts, row) : await prepareFork(parts, row, source);
  parts.atKillPoint('environment-checkout-made', row.operation ?? '');
  const directory = await makePlace(parts, row.id);
  const prepared = { ...made.prepared, settings: await settleImage(step, row, made.prepared) };
  if (made.notes.length > 0) await noteInSetupLog(parts.environmentsDirectory, row.id, made.notes);
  const branch = source === null ? null : branchOfEnvironment(row);
  if (source !== null) await copyFiles(step, row, { branch, source, place: prepared.place });
  await writeScripts(parts, row.id, { init: made.init, lines: prepared.settings.setup });
  parts.atKillPoint('environment-place-made', row.operation ?? '');
  const ports = await portsFor(parts, row, prepared.settings.ports);
  const hasSetup = scriptsOf(parts, row.id, prepared).length > 0;
  const key =
    (source === null || branch !== null) && hasSetup
      ? await keyOf(parts, { ...row, backend: prepared.settings.backend }, prepared)
      : null;
  const taken = key === null ? null : await takeState(parts, row, { prepared, key });
  const fresh: SetupRecord = hasSetup ? (taken ?? setupPending) : { ...setupPending, state: 'none' };
  const setup = source === null || branch !== null ? fresh : setupOf(source.row);
  await record(parts, row.id, {
    prepared: JSON.stringify(prepared),
    spec: JSON.stringify({ spec: namedSpec(parts, row, { prepared, ports }), directory } satisfies RecordedEnvironment),
    base_sha: prepared.baseSha,
    ports: JSON.stringify(ports),
    backend: prepared.settings.backend,
    image: prepared.settings.image,
    setup: JSON.stringify(setup),
    setup_key: (branch === null ? source?.row.setup_key : null) ?? (taken === null ? null : key),
    operation: row.wanted === 'running' ? 'start' : null,
    state: row.wanted === 'running' ? 'creating' : 'stopped',
  });
  parts.atKillPoint('environment-made', row.operation ?? '');
};

type Copying = { readonly branch: EnvironmentBranch | null; readonly source: Source; readonly place: WorkPlace };

/** Files and home of another environment as they are, or the files of a checkpoint of it. */
const copyFiles = async (step: Step, row: NamedRow, { branch, source, place }: Copying): Promise<void> => {
  const { parts } = step;
  if (branch !== null) await writePoint(step, row, { point: branch.point, from: source.row, checkoutId: place.checkoutId });
  else {
    await parts.workspace.likeFiles(place.checkoutId, source.prepared.place.checkoutId);
    await copyTree(source.prepared.place.path, place.path);
    await copyTree(placePaths(parts, source.row.id).home, placePaths(parts, row.id).home);
  }
  parts.atKillPoint('environment-files-copied', 'fork');
};

/** On a branch of its own where that one was on its own. */
const writePoint = async (
  { parts }: Step,
  row: NamedRow,
  given: { readonly point: EnvironmentBranch['point']; readonly from: NamedRow; readonly checkoutId: string },
): Promise<void> => {
  const { point, from, checkoutId } = given;
  const notes = await parts.workspace.restore(checkoutId, {
    point: { ...point, branch: point.branch === `refs/heads/${from.branch}` ? `refs/heads/${row.branch}` : point.branch },
    reason: `the environment ${row.name} was being made`,
    onSaved: async () => undefined,
  });
  if (notes.length > 0) await noteInSetupLog(parts.environmentsDirectory, row.id, notes);
};

/** A name keeps its port as long as the environment is there. */
const portsFor = async (parts: ConductorParts, row: NamedRow, names: readonly string[]): Promise<NamedPorts> => {
  const before = portsOf(row);
  const fresh = await parts.allocatePorts(
    row.id,
    names.filter((name) => before[name] === undefined),
  );
  return Object.fromEntries(names.map((name) => [name, before[name] ?? fresh[name] ?? 0]));
};

type Made = { readonly prepared: NamedPrepared; readonly init: Uint8Array | null; readonly notes: readonly string[] };

const prepareNew = async (parts: ConductorParts, row: NamedRow): Promise<Made> => {
  await parts.projects.refresh(row.project_id);
  const at = async (name: string | null) => {
    const base = await parts.projects.resolveBase(row.project_id, name);
    const { hooks, projectFile } = await parts.projects.readHooks(row.project_id, base.sha);
    return { base, hooks, settings: await parts.settle({ intent: intentFor(row), projectId: row.project_id, projectFile }) };
  };
  const first = await at(row.base);
  const found = row.base === null && first.settings.base !== null ? await at(first.settings.base) : first;
  await parts.backend(found.settings.backend).preflight(found.settings.required);
  const place = await filledPlace(parts, await claim(parts, row, found.base.sha), found.settings);
  const { base, hooks, settings } = found;
  const prepared = { baseSha: base.sha, baseName: base.name, place, hooks: [...hooks.keys()] as HookName[], settings };
  const filled = settings.lfs === 'pointers' ? [] : await parts.workspace.fillLfs(place.checkoutId, settings.lfs);
  const notes = settings.copy.length === 0 ? [] : await parts.workspace.bringFiles(place.checkoutId, settings.copy);
  return { prepared, init: hooks.get('init') ?? null, notes: [...filled, ...notes] };
};

const claim = (parts: ConductorParts, row: NamedRow, baseSha: string) =>
  parts.workspace.claim({ projectId: row.project_id, taskId: row.id, attempt: 1, baseSha, branch: row.branch });

/** Submodules are filled as in a task's checkout. */
const filledPlace = async (parts: ConductorParts, place: WorkPlace, { submodules }: AttemptSettings): Promise<WorkPlace> =>
  submodules === 'none' ? place : { ...place, modules: await parts.workspace.fillModules(place.checkoutId, submodules) };

/** An environment asks like a task that says nothing but where it runs, and in which image. */
const intentFor = (row: NamedRow) => ({
  prompt: row.name,
  project: row.project_id,
  backend: row.backend,
  ...imageAsked(row),
  ...egressOf(row),
  readOnly: false,
  priority: 0,
});

const egressOf = ({ egress }: NamedRow): { readonly egress?: string[] } => {
  const hosts = JSON.parse(egress) as string[];
  return hosts.length === 0 ? {} : { egress: hosts };
};

type Source = { readonly row: NamedRow; readonly prepared: NamedPrepared };

const sourceOf = async (parts: ConductorParts, row: NamedRow): Promise<Source> => {
  const source = await namedById(parts.store.read, row.forked_from ?? '');
  const prepared = source === null || source.deleted_at !== null ? null : preparedOf(source);
  if (source !== null && prepared !== null) return { row: source, prepared };
  throw new OrreryError('not_found', 'The environment that was to be copied is gone.', {
    rule: 'A fork copies what is there when it is made.',
    fix: `orrery env delete ${row.name}`,
  });
};

const prepareFork = async (parts: ConductorParts, row: NamedRow, { row: from, prepared }: Source): Promise<Made> => {
  const { hooks, projectFile } = await parts.projects.readHooks(row.project_id, prepared.baseSha);
  const elsewhere = row.backend !== prepared.settings.backend || row.image_asked !== from.image_asked;
  const settings = elsewhere
    ? await parts.settle({ intent: intentFor(row), projectId: row.project_id, projectFile })
    : prepared.settings;
  if (elsewhere) await parts.backend(settings.backend).preflight(settings.required);
  const place = await filledPlace(parts, await claim(parts, row, prepared.baseSha), prepared.settings);
  // The copy of the source's files comes over them; that they are files of Git LFS is known then.
  const notes =
    prepared.settings.lfs === 'pointers' ? [] : await parts.workspace.fillLfs(place.checkoutId, prepared.settings.lfs);
  const branch = branchOfEnvironment(row);
  const commits = branch === null ? {} : { commits: [branch.point.sha] };
  return { prepared: { ...prepared, place: { ...place, ...commits }, settings }, init: hooks.get('init') ?? null, notes };
};
