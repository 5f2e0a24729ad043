import { z } from 'zod';
import { pullRequest } from './pull-request.ts';
import { imageName, instant, requestId, safeName } from './scalars.ts';

/** States of an environment of its own. `ready`: its programs may run and its set-up passed or was overridden. */
export const environmentState = z.enum(['creating', 'setting-up', 'ready', 'stopped', 'failed', 'deleting']);
export type EnvironmentState = z.output<typeof environmentState>;

/** What is being done to an environment; null: nothing. It goes on after a restart of the node, but for `setup`. */
export const environmentOperation = z.enum(['create', 'fork', 'start', 'setup', 'stop', 'recreate', 'delete']);
export type EnvironmentOperation = z.output<typeof environmentOperation>;

/** How the set-up (`init.sh`, then the `setup` lines of the project) stands. */
export const environmentSetup = z.object({
  state: z.enum(['none', 'pending', 'running', 'passed', 'failed', 'overridden']),
  /** Why it failed, or why it was not run again. */
  reason: z.string().nullable(),
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
});
export type EnvironmentSetup = z.output<typeof environmentSetup>;

/** An environment that belongs to a project and not to one task. */
export const environmentView = z.object({
  id: z.string(),
  seq: z.int(),
  name: z.string(),
  project: z.object({ id: z.string(), name: z.string() }),
  backend: z.string(),
  /** What it is made from; null: what its backend takes by itself, or its backend has no images. */
  image: z.string().nullable(),
  state: environmentState,
  operation: environmentOperation.nullable(),
  /** Why it failed or stopped by itself. */
  reason: z.string().nullable(),
  setup: environmentSetup,
  base: z.string().nullable(),
  baseSha: z.string().nullable(),
  branch: z.string(),
  /** Where its checkout is, as programs inside see it; null until it was made. */
  workdir: z.string().nullable(),
  ports: z.array(z.object({ name: z.string(), port: z.int() })),
  /** The task that works in it now. */
  taskId: z.string().nullable(),
  forkedFrom: z.string().nullable(),
  /** Checkout and home, as last measured. */
  diskBytes: z.int().nullable(),
  diskLimitBytes: z.int().nullable(),
  diskMeasuredAt: instant.nullable(),
  createdAt: instant,
  changedAt: instant,
  usedAt: instant,
  /** When retention takes it, if nobody uses it before and it holds nothing unsaved; null: it is kept. */
  goesAt: instant.nullable(),
  /** The newest one of what it holds. */
  pullRequest: pullRequest.nullable().default(null),
});
export type EnvironmentView = z.output<typeof environmentView>;

export const environmentCreate = z.strictObject({
  /** Id, name or path of a project. */
  project: z.string().min(1).max(4096),
  /** Default: the project's name and a number. */
  name: safeName.optional(),
  backend: z.string().max(100).optional(),
  /** Image to make it from, of the operator's list (execution.allowedImages); only on backends that have images. It stays its own. */
  image: imageName.optional(),
  /** Branch, tag or commit to begin at. */
  base: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^-\x00-\x20][^\x00-\x20]*$/, 'a branch, tag or commit: no leading dash, no spaces')
    .optional(),
  /** Whether it is started (and set up) at once. */
  start: z.boolean().default(true),
  /** Runs the set-up though an earlier one left its state, and forgets that. */
  noCache: z.boolean().optional(),
  requestId: requestId.optional(),
});
export type EnvironmentCreate = z.output<typeof environmentCreate>;

export const environmentSet = z.strictObject({ name: safeName });
export const environmentFork = z.strictObject({
  name: safeName.optional(),
  /** Default: that of the one that is copied, with its image. On another one the set-up runs again, in an image of there. */
  backend: z.string().max(100).optional(),
  /** Another image, as `environmentCreate` has it: the set-up runs again in it. */
  image: imageName.optional(),
  requestId: requestId.optional(),
});
export type EnvironmentFork = z.output<typeof environmentFork>;

/** A stretch of the set-up's log. */
export const environmentSetupLog = z.object({
  text: z.string(),
  /** Where the next stretch begins. */
  offset: z.int(),
  totalBytes: z.int(),
  state: environmentSetup.shape.state,
});

/** What retention did, or would do. */
/** How what an environment holds is brought into the repository, as a result of a task is. */
export const environmentApply = z.strictObject({
  /** `branch` writes a branch and leaves the tree alone; `tree` also updates a clean checked-out tree. */
  mode: z.enum(['branch', 'tree']).default('tree'),
  /** Default: the branch of the environment. */
  branch: z.string().min(1).max(200).optional(),
  /** Message of the commit for files that the agent did not commit. */
  message: z.string().min(1).max(10_000).optional(),
});
export const environmentApplied = z.object({
  environmentId: z.string(),
  branch: z.string().nullable(),
  headSha: z.string(),
  /** Whether the user's checked-out files were updated. */
  treeUpdated: z.boolean(),
  note: z.string(),
});
export type EnvironmentApplied = z.output<typeof environmentApplied>;

export const environmentPruned = z.object({
  dryRun: z.boolean(),
  olderThanMs: z.int(),
  items: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      usedAt: instant,
      diskBytes: z.int().nullable(),
      /** Why it stays; null: it goes. */
      kept: z.string().nullable(),
    }),
  ),
});
export type EnvironmentPruned = z.output<typeof environmentPruned>;
