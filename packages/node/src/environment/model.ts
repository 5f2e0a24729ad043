// Glossary. An environment is one open place on a backend. A named environment belongs to a project and not to one task:
// it is made, started, stopped and deleted by people, and kept in between. Its operation is what is being done to it; it
// is recorded before it begins, so that another start of the node goes on with it. Open: its backend holds it.

import {
  OrreryError,
  type EnvironmentOperation,
  type EnvironmentSetup,
  type EnvironmentState,
  type EnvironmentView,
  type PullRequest,
} from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { toInstant } from '../kernel/clock.ts';
import type { NamedEnvironmentTable } from '../store/tables.ts';
import { recordedEnvironment } from './record.ts';

/** Ports by the name that the project gave them. */
export type NamedPorts = Readonly<Record<string, number>>;

export type NamedRow = Selectable<NamedEnvironmentTable>;

/** Set-up as it is stored: instants in milliseconds. */
export type SetupRecord = {
  readonly state: EnvironmentSetup['state'];
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The run that was begun last: a start of the node that finds it running ends it. */
  readonly runId?: string;
  /** The key under which what it left is kept for others, where it is. */
  readonly stateKey?: string;
};

export const setupPending: SetupRecord = { state: 'pending', reason: null, startedAt: null, endedAt: null };

export const setupOf = (row: NamedRow): SetupRecord => JSON.parse(row.setup) as SetupRecord;

/** Whether nothing of the set-up stands in the way of programs. */
export const isSetUp = (row: NamedRow): boolean => ['none', 'passed', 'overridden'].includes(setupOf(row).state);

/** Its ports by name; kept while it is stopped. */
export const portsOf = (row: Pick<NamedRow, 'ports'>): NamedPorts => JSON.parse(row.ports) as NamedPorts;

const maybeInstant = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

const branchedAt = z.object({
  checkpoint: z.string(),
  point: z.object({ sha: z.string(), headSha: z.string(), branch: z.string().nullable(), staged: z.string().nullable() }),
});

/** A checkpoint, and what its files are. */
export type EnvironmentBranch = z.output<typeof branchedAt>;

/** The checkpoint whose files it was made with; null: it was made in another way. */
export const branchOfEnvironment = ({ intent }: Pick<NamedRow, 'intent'>): EnvironmentBranch | null =>
  branchedAt.safeParse(JSON.parse(intent)).data ?? null;

/** The image that it was asked for with, for whatever asks in its name; nothing where none was named. */
export const imageAsked = ({ image_asked: image }: Pick<NamedRow, 'image_asked'>): { readonly image?: string } =>
  image === null ? {} : { image };

/** What an environment is shown with beside its own row. */
export type NamedSurroundings = {
  readonly seq: number;
  readonly project: { readonly id: string; readonly name: string };
  readonly diskLimitBytes: number | null;
  /** How long one that is stopped is kept; null: for ever. */
  readonly keptForMs: number | null;
  readonly pullRequest: PullRequest | null;
};

/** An environment as clients see it. */
export const toEnvironment = (row: NamedRow, around: NamedSurroundings): EnvironmentView => {
  const { startedAt, endedAt, state, reason } = setupOf(row);
  return {
    id: row.id,
    seq: around.seq,
    name: row.name,
    project: around.project,
    backend: row.backend,
    image: row.image,
    state: row.state as EnvironmentState,
    operation: row.operation as EnvironmentOperation | null,
    reason: row.reason,
    setup: { state, reason, startedAt: maybeInstant(startedAt), endedAt: maybeInstant(endedAt) },
    base: row.base,
    baseSha: row.base_sha,
    branch: row.branch,
    workdir: row.spec === null ? null : recordedEnvironment(row.spec).spec.workdir,
    ports: Object.entries(portsOf(row)).map(([name, port]) => ({ name, port })),
    taskId: row.task_id,
    forkedFrom: row.forked_from,
    diskBytes: row.disk_bytes,
    diskLimitBytes: around.diskLimitBytes,
    diskMeasuredAt: maybeInstant(row.disk_at),
    createdAt: toInstant(row.created_at),
    changedAt: toInstant(row.changed_at),
    usedAt: toInstant(row.used_at),
    goesAt: maybeInstant(around.keptForMs === null || row.open === 1 ? null : row.used_at + around.keptForMs),
    pullRequest: around.pullRequest,
  };
};

export const environmentNotFound = (reference: string): OrreryError =>
  new OrreryError('not_found', `There is no environment ${reference.slice(0, 200)}.`, {
    rule: 'An environment is named by its id or its name; those of one task are shown with the task.',
    fix: 'orrery env list',
  });

const doing: Readonly<Record<EnvironmentOperation, string>> = {
  create: 'being made',
  fork: 'being made',
  start: 'being started',
  setup: 'being set up',
  stop: 'being stopped',
  recreate: 'being made anew',
  delete: 'being deleted',
};

/** Why an operation has to wait, or null. `over`: operations that the new one may take the place of. */
export const whyBusy = (row: NamedRow, over: readonly EnvironmentOperation[] = []): OrreryError | null => {
  if (row.task_id !== null)
    return new OrreryError('busy', `The task ${row.task_id} works in the environment ${row.name}.`, {
      rule: 'A task has its environment for itself.',
      fix: `orrery task wait ${row.task_id}`,
      details: { taskId: row.task_id },
    });
  const operation = row.operation as EnvironmentOperation | null;
  if (operation === null || over.includes(operation)) return null;
  return new OrreryError('busy', `The environment ${row.name} is ${doing[operation]}.`, {
    rule: 'One thing at a time is done to an environment.',
    fix: `orrery env show ${row.name}`,
  });
};

/** Why programs cannot run in it now, or null. */
export const whyNotReady = (row: NamedRow): OrreryError | null => {
  if (row.state === 'ready') return null;
  const fix =
    row.state === 'stopped'
      ? `orrery env start ${row.name}`
      : row.state === 'failed'
        ? `orrery env setup ${row.name}`
        : `orrery env show ${row.name}`;
  return new OrreryError('conflict', `The environment ${row.name} is ${row.state}.`, {
    rule: 'Programs run in an environment that is ready: running and set up.',
    fix,
    details: { state: row.state, operation: row.operation },
  });
};
