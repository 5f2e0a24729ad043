import { OrreryError, type EnvironmentCreate, type EnvironmentFork } from '@orrery/protocol';
import { NAMED_ENVIRONMENTS } from '../kernel/limits.ts';
import type { Tx } from '../store/store.ts';
import { bringBack } from './bring-back.ts';
import type { EnvironmentParts, ProjectRef } from './doors.ts';
import { environmentNotFound, setupPending, whyBusy, whyNotReady, type EnvironmentBranch, type NamedRow } from './model.ts';
import { findNamed, insertNamed, listNamed, namedById, namedByRequest } from './named-store.ts';

/** Records a new environment; the same request answers the same one. */
export const createRow = async (
  parts: EnvironmentParts,
  asked: EnvironmentCreate,
  egress: readonly string[] = [],
): Promise<NamedRow> => {
  const requestId = asked.requestId ?? parts.ids('request');
  const known = await namedByRequest(parts.store.read, requestId);
  if (known !== null) return sameIntent(known, asked);
  const project = await parts.resolveProject(asked.project);
  const { backend: where = null, base = null, image = null } = asked;
  const backend = await parts.admit({ projectId: project.id, backend: where, base, image });
  parts.checkRoom();
  const row = await insertRow(parts, {
    requestId,
    asked,
    name: asked.name ?? null,
    project,
    backend,
    operation: 'create',
    base,
    image,
    from: null,
    start: asked.start,
    egress: JSON.stringify(egress),
  });
  return sameIntent(row, asked);
};

/** Records one that is to be a copy of another. */
export const forkRow = async (parts: EnvironmentParts, source: NamedRow, asked: EnvironmentFork): Promise<NamedRow> => {
  const requestId = asked.requestId ?? parts.ids('request');
  const known = await namedByRequest(parts.store.read, requestId);
  if (known !== null) return known;
  const busy = whyBusy(source);
  if (busy !== null) throw busy;
  if (source.prepared === null) throw whyNotReady(source) ?? environmentNotFound(source.id);
  if (source.open === 1 && (await (await parts.conductor().open(source)).stats()).processes !== 0)
    throw new OrreryError('busy', `Programs run, or may run, in the environment ${source.name}.`, {
      rule: 'Files that are being written cannot be copied as they were at one moment.',
      fix: `orrery env stop ${source.name}`,
    });
  parts.checkRoom();
  const project =
    (await parts.projectsById([source.project_id])).get(source.project_id) ?? (await parts.resolveProject(source.project_id));
  const { base } = source;
  const { backend: where = source.backend, image = null } = asked;
  const admitted = where === source.backend && image === null;
  const backend = admitted ? where : await parts.admit({ projectId: project.id, backend: where, base, image });
  await bringBack(parts, source);
  return insertRow(parts, {
    requestId,
    asked,
    name: asked.name ?? null,
    project,
    backend,
    operation: 'fork',
    base,
    image: image ?? imageAgain(source, backend),
    from: source,
    start: true,
    egress: source.egress,
  });
};

/** Records, in the transaction of whoever needs it, one that is to have the files of a moment of another: of a checkpoint. */
export type BranchRow = (tx: Tx, asked: EnvironmentBranch & { readonly requestId: string }) => Promise<NamedRow>;

/** Looks at the source before that transaction. The same request answers the same one. */
export const branchRow = async (parts: EnvironmentParts, source: NamedRow): Promise<BranchRow> => {
  if (source.prepared === null) throw whyNotReady(source) ?? environmentNotFound(source.id);
  parts.checkRoom();
  const { project_id, backend, base, egress } = source;
  const project = (await parts.projectsById([project_id])).get(project_id) ?? (await parts.resolveProject(project_id));
  const image = imageAgain(source, backend);
  const branched = { name: null, operation: 'fork', from: source, start: true } as const;
  return (tx, { requestId, ...intent }) =>
    insertRowIn(parts, tx, { requestId, asked: intent, project, backend, base, image, egress, ...branched });
};

/** The image that one was asked for with holds for its copies on the same backend; another one may not have it. */
const imageAgain = (source: NamedRow, backend: string): string | null => (backend === source.backend ? source.image_asked : null);

type NewRow = {
  readonly requestId: string;
  readonly asked: unknown;
  readonly name: string | null;
  readonly project: ProjectRef;
  readonly backend: string;
  readonly operation: 'create' | 'fork';
  readonly base: string | null;
  /** The image that it is asked for with; null: none was named. */
  readonly image: string | null;
  readonly from: NamedRow | null;
  readonly start: boolean;
  /** JSON. */
  readonly egress: string;
};

const insertRow = (parts: EnvironmentParts, given: NewRow): Promise<NamedRow> =>
  parts.store.transaction((tx) => insertRowIn(parts, tx, given));

const insertRowIn = async (parts: Pick<EnvironmentParts, 'ids' | 'clock'>, tx: Tx, given: NewRow): Promise<NamedRow> => {
  const known = await namedByRequest(tx.db, given.requestId);
  if (known !== null) return known;
  const id = parts.ids('environment');
  const nowMs = parts.clock.nowMs();
  const name = await chooseName(tx, { id, asked: given.name, from: given.from, project: given.project });
  await insertNamed(tx, {
    id,
    request_id: given.requestId,
    intent: JSON.stringify(given.asked),
    name,
    project_id: given.project.id,
    backend: given.backend,
    ...{ image: given.image, image_asked: given.image },
    state: 'creating',
    operation: given.operation,
    reason: null,
    setup: JSON.stringify(setupPending),
    setup_key: null,
    base: given.base,
    egress: given.egress,
    base_sha: null,
    branch: `orrery/${id}`,
    prepared: null,
    spec: null,
    ports: '{}',
    open: 0,
    wanted: given.start ? 'running' : 'stopped',
    task_id: null,
    forked_from: given.from?.id ?? null,
    salvage: 1,
    disk_bytes: null,
    disk_at: null,
    ...{ created_at: nowMs, changed_at: nowMs, used_at: nowMs },
    deleted_at: null,
  });
  const row = await namedById(tx.db, id);
  if (row === null) throw environmentNotFound(id);
  return row;
};

/** The name that was asked for, or one with a number. Throws `conflict` when another has it, `limit_reached` when there are too many. */
const chooseName = async (
  tx: Tx,
  given: { readonly id: string; readonly asked: string | null; readonly from: NamedRow | null; readonly project: ProjectRef },
): Promise<string> => {
  const { id, asked, from, project } = given;
  const all = await listNamed(tx.db);
  if (all.length >= NAMED_ENVIRONMENTS) throw tooMany();
  if (asked === null) return freeName(from?.name ?? project.name, new Set(all.map(({ name }) => name)));
  await checkNameFree(tx, { name: asked, id, again: from === null ? 'env create --name' : `env fork ${from.name} --name` });
  return asked;
};

const sameIntent = (row: NamedRow, asked: EnvironmentCreate): NamedRow => {
  if (row.intent === JSON.stringify(asked)) return row;
  throw new OrreryError('request_conflict', `Request ${row.request_id} was used for another environment.`, {
    rule: 'One request id stands for one intent; the same id with the same intent answers the same environment.',
    fix: 'Leave the request id out, or choose a new one.',
  });
};

/** Throws `conflict` when another has that name. `again`: the command, for a name behind it that nobody has. */
export const checkNameFree = async (
  tx: Tx,
  { name, id, again }: { readonly name: string; readonly id: string; readonly again: string },
): Promise<void> => {
  const other = await findNamed(tx.db, name);
  if (other === null || other.id === id) return;
  throw new OrreryError('conflict', `There is an environment ${name} already.`, {
    rule: 'Each environment has a name of its own.',
    fix: `orrery ${again} ${freeName(name, new Set((await listNamed(tx.db)).map((row) => row.name)))}`,
  });
};

const freeName = (stem: string, taken: ReadonlySet<string>): string => {
  const bare = stem.replace(/-\d+$/, '');
  for (let number = 1; ; number++) if (!taken.has(`${bare}-${number}`)) return `${bare}-${number}`;
};

const tooMany = (): OrreryError =>
  new OrreryError('limit_reached', `There are ${NAMED_ENVIRONMENTS} environments.`, {
    rule: `A node keeps at most ${NAMED_ENVIRONMENTS}.`,
    fix: 'orrery env prune --dry-run',
  });
