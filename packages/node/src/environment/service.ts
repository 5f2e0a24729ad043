import {
  OrreryError,
  type EnvironmentCreate,
  type EnvironmentFork,
  type EnvironmentOperation,
  type EnvironmentPruned,
  type EnvironmentView,
  type OperationCall,
} from '@orrery/protocol';
import type { Environment } from '../exec/backend.ts';
import type { Tx } from '../store/store.ts';
import { bringBack } from './bring-back.ts';
import { branchRow, checkNameFree, createRow, forkRow, type BranchRow } from './begin.ts';
import type { EnvironmentParts } from './doors.ts';
import {
  environmentNotFound,
  isSetUp,
  setupOf,
  setupPending,
  toEnvironment,
  whyBusy,
  whyNotReady,
  type NamedRow,
} from './model.ts';
import { changeNamed, findNamed, listNamed, namedById } from './named-store.ts';
import { pruneEnvironments } from './prune.ts';
import { readSetupLog, type SetupLogPage } from './setup-log.ts';

/** Use cases of environments of their own; one transaction each. A reference is an id or a name. */
export type Environments = {
  /** `egress`: hosts beside those of its project. */
  create(asked: EnvironmentCreate, more?: { readonly egress: readonly string[] }): Promise<EnvironmentView>;
  list(
    query: OperationCall<'environmentList'>['query'],
  ): Promise<{ items: EnvironmentView[]; nextCursor: string | null; seq: number }>;
  show(reference: string): Promise<EnvironmentView>;
  rename(reference: string, name: string): Promise<EnvironmentView>;
  start(reference: string): Promise<EnvironmentView>;
  stop(reference: string): Promise<EnvironmentView>;
  recreate(reference: string): Promise<EnvironmentView>;
  fork(reference: string, asked: EnvironmentFork): Promise<EnvironmentView>;
  /** What records another one with the files of a checkpoint of it. Who has committed that has it made: `EnvironmentConductor.begin`. */
  branch(id: string): Promise<BranchRow>;
  setup(reference: string, how: { readonly override: boolean }): Promise<EnvironmentView>;
  /** Resolves when it is gone. Rejects with `unsaved_work`, and nothing of it was touched. */
  remove(reference: string, how: { readonly salvage: boolean }): Promise<void>;
  /** What of one that is there nothing else has, that counted which lies elsewhere; null: it is gone. */
  unsaved(id: string): Promise<{ readonly name: string; readonly reasons: readonly string[] } | null>;
  setupLog(reference: string, after: number): Promise<SetupLogPage>;
  /** `actor`: who is on record for what goes. */
  prune(how: { readonly dryRun: boolean; readonly olderThanMs?: number; readonly actor: string }): Promise<EnvironmentPruned>;
  /** The row of a reference. Rejects with `not_found`. */
  find(reference: string): Promise<NamedRow>;
  /** The same once the files of this machine are what it has. Rejects with `busy` while a task or an operation has it. */
  brought(reference: string): Promise<NamedRow>;
  /** The open place, for programs beside tasks: shells, commands, ports. Rejects with `conflict` unless it is ready. */
  open(reference: string): Promise<Environment>;
};

export const createEnvironments = (parts: EnvironmentParts): Environments => {
  const { store, clock } = parts;
  const find = async (reference: string): Promise<NamedRow> => {
    const row = await findNamed(store.read, reference);
    if (row === null) throw environmentNotFound(reference);
    return row;
  };
  const viewAll = async (rows: readonly NamedRow[]): Promise<EnvironmentView[]> => {
    const projects = await parts.projectsById([...new Set(rows.map(({ project_id }) => project_id))]);
    const around = { seq: store.seq(), diskLimitBytes: parts.diskLimitBytes(), keptForMs: parts.keptForMs() };
    const pulls = await parts.pullRequestsOf(rows.map(({ id }) => id));
    return rows.map((row) => {
      const project = projects.get(row.project_id);
      const own = { id: row.project_id, name: project?.name ?? '(removed)' };
      return toEnvironment(row, { ...around, project: own, pullRequest: pulls.get(row.id) ?? null });
    });
  };
  const view = async (row: NamedRow): Promise<EnvironmentView> => {
    const [shown] = await viewAll([row]);
    if (shown === undefined) throw environmentNotFound(row.id);
    return shown;
  };
  const after = async (id: string): Promise<EnvironmentView> => view(await find(id));

  /** Records an operation and begins it; `ask` answers null when there is nothing to do. */
  const operate = async (reference: string, ask: (row: NamedRow) => Asked | null): Promise<EnvironmentView> => {
    const { id } = await find(reference);
    const begun = await store.transaction((tx) => record(tx, { id, ask, nowMs: clock.nowMs() }));
    if (begun) parts.conductor().begin(id);
    return after(id);
  };

  const remove: Environments['remove'] = async (reference, { salvage }) => {
    const row = await find(reference);
    refuse(whyBusy(row, ['setup', 'delete']));
    const reasons = salvage || row.prepared === null ? [] : await unsavedNow(parts, row);
    if (reasons.length > 0) throw unsavedWork(row, reasons);
    const ask = (now: NamedRow): Asked => {
      refuse(whyBusy(now, ['setup', 'delete']));
      return { operation: 'delete', state: 'deleting', salvage: salvage ? 1 : 0 };
    };
    await store.transaction((tx) => record(tx, { id: row.id, ask, nowMs: clock.nowMs() }));
    parts.conductor().begin(row.id);
    await parts.conductor().settled(row.id);
    const left = await namedById(store.read, row.id);
    if (left !== null && left.deleted_at === null)
      throw new OrreryError(
        'conflict',
        `The environment ${row.name} could not be deleted: ${left.reason ?? 'no reason is known'}`,
        {
          rule: 'What cannot be saved and taken away stays as it is.',
          fix: `orrery env delete ${row.name} --salvage`,
        },
      );
  };

  return {
    find,
    create: async (asked, { egress } = { egress: [] }) => {
      const row = await createRow(parts, asked, egress);
      if (row.operation !== null) parts.conductor().begin(row.id);
      return view(row);
    },
    list: async ({ project, limit, cursor }) => {
      const projectId = project === undefined ? undefined : (await parts.resolveProject(project)).id;
      const rows = await listNamed(store.read, { projectId, after: cursor, limit });
      const nextCursor = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
      return { items: await viewAll(rows), nextCursor, seq: store.seq() };
    },
    show: after,
    rename: async (reference, name) => {
      const row = await find(reference);
      await store.transaction(async (tx) => {
        await checkNameFree(tx, { name, id: row.id, again: `env rename ${row.name}` });
        await changeNamed(tx, row.id, { name, nowMs: clock.nowMs() });
      });
      return after(row.id);
    },
    start: (reference) => operate(reference, askStart),
    stop: (reference) => operate(reference, askStop),
    recreate: (reference) =>
      operate(reference, (row) => {
        refuse(whyBusy(row, ['setup']));
        return {
          operation: 'recreate',
          state: 'creating',
          // What its set-up left for others is forgotten, and this says which that is.
          setup: JSON.stringify({ ...setupPending, stateKey: setupOf(row).stateKey }),
          setup_key: null,
          wanted: 'running',
        };
      }),
    setup: (reference, how) => operate(reference, (row) => askSetup(row, how)),
    fork: async (reference, asked) => {
      const row = await forkRow(parts, await find(reference), asked);
      if (row.operation !== null) parts.conductor().begin(row.id);
      return view(row);
    },
    branch: async (id) => branchRow(parts, await find(id)),
    remove,
    unsaved: async (id) => {
      const row = await namedById(store.read, id);
      if (row === null || row.deleted_at !== null) return null;
      return { name: row.name, reasons: row.prepared === null ? [] : await unsavedNow(parts, row) };
    },
    setupLog: async (reference, offset) => {
      const row = await find(reference);
      return readSetupLog({ directory: parts.environmentsDirectory, id: row.id, after: offset, state: setupOf(row).state });
    },
    prune: (how) => pruneEnvironments(parts, how, (id) => remove(id, { salvage: false })),
    brought: async (reference) => {
      const row = await find(reference);
      refuse(whyBusy(row));
      await bringBack(parts, row);
      return row;
    },
    open: async (reference) => {
      const row = await find(reference);
      refuse(whyNotReady(row));
      await store.transaction(async (tx) => {
        const nowMs = clock.nowMs();
        await changeNamed(tx, row.id, { used_at: nowMs, nowMs });
      });
      return parts.conductor().open(row);
    },
  };
};

/** What an operation changes when it is asked for. */
type Asked = {
  readonly operation: EnvironmentOperation | null;
  readonly state?: string;
  readonly setup?: string;
  readonly setup_key?: null;
  readonly salvage?: number;
  readonly wanted?: string;
};

const record = async (
  tx: Tx,
  { id, ask, nowMs }: { readonly id: string; readonly ask: (row: NamedRow) => Asked | null; readonly nowMs: number },
): Promise<boolean> => {
  const row = await namedById(tx.db, id);
  if (row === null || row.deleted_at !== null) throw environmentNotFound(id);
  const asked = ask(row);
  if (asked === null) return false;
  await changeNamed(tx, id, { reason: null, used_at: nowMs, ...asked, nowMs });
  return true;
};

const askStart = (row: NamedRow): Asked | null => {
  refuse(whyBusy(row, ['start', 'setup', 'create', 'fork']));
  if (row.operation !== null || row.state === 'ready') return null;
  if (row.prepared === null) return { operation: 'create', state: 'creating', wanted: 'running' };
  return row.open === 1 ? { operation: 'setup', state: 'setting-up' } : { operation: 'start' };
};

const askStop = (row: NamedRow): Asked | null => {
  refuse(whyBusy(row, ['stop', 'setup']));
  return row.open === 0 && row.operation === null ? null : { operation: 'stop' };
};

const askSetup = (row: NamedRow, { override }: { readonly override: boolean }): Asked | null => {
  refuse(whyBusy(row, override ? ['setup'] : []));
  if (row.open === 0) throw whyNotReady(row) ?? environmentNotFound(row.id);
  if (!override) return { operation: 'setup', state: 'setting-up', setup: JSON.stringify(setupPending), setup_key: null };
  if (row.state === 'ready' && isSetUp(row)) return null;
  const reason = 'a person went on without it';
  return { operation: null, state: 'ready', setup: JSON.stringify({ ...setupOf(row), state: 'overridden', reason }) };
};

/** What only this environment has, that counted which lies elsewhere. */
const unsavedNow = async (parts: EnvironmentParts, row: NamedRow): Promise<readonly string[]> => {
  await bringBack(parts, row);
  return parts.unsaved(row.id);
};

const refuse = (error: OrreryError | null): void => {
  if (error !== null) throw error;
};

const unsavedWork = (row: NamedRow, reasons: readonly string[]): OrreryError =>
  new OrreryError('unsaved_work', `The environment ${row.name} holds ${reasons.join(', ')} that nothing else has.`, {
    rule: 'Work is saved before its place is taken away; nothing was touched.',
    fix: `orrery env delete ${row.name} --salvage`,
    details: { reasons },
  });
