import { z } from 'zod';
import { leftOut } from './change.ts';
import { pullRequest } from './pull-request.ts';
import { agentName, agentRef } from './agent-ref.ts';
import { durationMs, imageName, instant, pageQuery, requestId, safeName, usd } from './scalars.ts';
import { usageTotals } from './usage.ts';

/** States of a task. `limit` and `interrupted` may become `queued` again (same task, next attempt). */
export const taskStates = [
  'queued',
  'waiting',
  'running',
  'accepted',
  'rejected',
  'failed',
  'cancelled',
  'limit',
  'interrupted',
] as const;
export const taskState = z.enum(taskStates);
export type TaskState = z.output<typeof taskState>;

/** How a task ended. */
export const verdict = z.enum(['accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted']);
export type Verdict = z.output<typeof verdict>;

/** Stages of an attempt, in order; `drive` and the checks after it (`output`, `validate`, `goal`) may repeat. */
export const stageName = z.enum(['prepare', 'open', 'init', 'before', 'drive', 'output', 'validate', 'goal', 'after', 'settle']);
export type StageName = z.output<typeof stageName>;

/** How long each part may take, and how large it may grow. Absent: the node's default. */
export const taskLimits = z.strictObject({
  wallMs: durationMs.min(1).optional().describe('The whole attempt, milliseconds'),
  hookMs: durationMs.min(1).optional().describe('Each hook, milliseconds'),
  turnMs: durationMs.min(1).optional().describe('One turn of the agent, milliseconds'),
  cpuSeconds: z.int().min(1).optional().describe('Processor time of a run'),
  memoryBytes: z.int().min(1_048_576).optional().describe('Memory of a run'),
  processes: z.int().min(1).optional().describe('Processes of a run'),
  outputBytes: z.int().min(1024).optional().describe('Output of a run that is kept'),
  diskBytes: z.int().min(1_048_576).optional().describe('Disk of checkout and home together; measured at intervals'),
});
export type TaskLimits = z.output<typeof taskLimits>;

/** Folders of notes that outlive tasks: everybody's, a project's, an agent program's. */
export const memoryKind = z.enum(['global', 'project', 'agent']);
export type MemoryKind = z.output<typeof memoryKind>;

/** Where a task came from. */
export const taskOrigin = z.strictObject({
  /** `session`: an attached session asked for it, and `by` is its id; the node checks that. */
  kind: z.enum(['cli', 'api', 'demo', 'retry', 'session']),
  by: z.string().max(200),
});

/** No NUL: nothing that a program is given can hold one. */
const withoutNul = (text: string): boolean => !text.includes('\0');

/** A name of a branch as Git allows them. */
const isBranchName = (name: string): boolean =>
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock(\/|$)|\/\./.test(name) && name !== '@';

/** A JSON Schema of the draft 2020-12, without references to others. */
const jsonSchema = z.record(z.string(), z.unknown());

/** What a client sends to make a task. */
export const taskFields = z.strictObject({
  prompt: z.string().max(4_000_000).refine(withoutNul, 'may not hold a NUL'),
  /** The agent program's own full screen, for a person at a terminal: `terminal.opened` says where. Its prompt may be empty. */
  interactive: z.boolean().optional(),
  /** Id, name or path of a project; null runs in a scratch folder. */
  project: z.string().max(4096).nullable().default(null),
  /** An agent by name or `source:name`; what the request says itself goes before what its file says. */
  agent: agentName.optional(),
  harness: z.string().max(100).optional(),
  model: z.string().max(200).optional(),
  effort: z.string().max(50).optional(),
  /** The program to run, for the harness `command`. */
  command: z.array(z.string().max(131_072).refine(withoutNul, 'may not hold a NUL')).min(1).max(256).optional(),
  backend: z.string().max(100).optional(),
  /** Image to run in, of the operator's list (execution.allowedImages); only on backends that have images. */
  image: imageName.optional(),
  /** Id or name of an environment of its own to work in; it stays as the task leaves it. */
  environment: z.string().min(1).max(200).optional(),
  /** Task that has ended whose conversation goes on, from what it left; project, harness, model, effort and backend are its own unless given. */
  continues: z.string().min(1).max(100).optional(),
  /** Tasks that must be accepted before this one begins. One that can no longer be fails this one. */
  dependsOn: z.array(z.string().min(1).max(100)).max(100).optional(),
  /** Not before this instant. */
  notBefore: instant.optional(),
  /** Tasks of one series of a project run one after another, each from the result of the one before it and in its conversation. */
  series: safeName.optional(),
  /** Branch, tag or commit to begin at; default: what the repository has checked out. */
  base: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^-\x00-\x20][^\x00-\x20]*$/, 'a branch, tag or commit: no leading dash, no spaces')
    .optional(),
  /** Name of the result branch on apply; default `orrery/<task>`. */
  branch: z.string().min(1).max(200).refine(isBranchName, 'a name that Git allows for a branch').optional(),
  readOnly: z.boolean().default(false),
  priority: z.int().min(0).max(100).default(10),
  maxRetries: z.int().min(0).max(20).optional(),
  budgetUsd: usd.optional(),
  limits: taskLimits.optional(),
  /** Memories it gets; only those that the operator gives. */
  memory: z.array(memoryKind).max(3).optional(),
  /** Handed to the agent as a file that its prompt names. */
  input: z.unknown().optional(),
  /** JSON Schema (2020-12) that the input must fit; only with an input. */
  inputSchema: jsonSchema.optional(),
  /** JSON Schema (2020-12) of the answer: the agent ends with a JSON value that fits it, or is sent back. */
  outputSchema: jsonSchema.optional(),
  /** A condition that the model is asked about when a turn has passed every other check; not met sends the agent back. */
  goal: z
    .string()
    .min(1)
    .max(10_000)
    .refine((text) => text.trim() !== '' && withoutNul(text), 'may not be blank or hold a NUL')
    .optional(),
  /** Hosts beside the project's own list; only narrower than the operator allows. */
  egress: z.array(z.string().min(1).max(300)).max(200).optional(),
  /** Runs the set-up though an earlier one left its state, and forgets that. */
  noCache: z.boolean().optional(),
  requestId: requestId.optional(),
  origin: taskOrigin.optional(),
});
export const taskCreate = taskFields.superRefine(({ prompt, interactive }, context) => {
  if (prompt.trim() === '' && !(interactive === true && prompt === ''))
    context.addIssue({ code: 'custom', path: ['prompt'], message: 'may not be blank' });
});
export type TaskCreate = z.input<typeof taskCreate>;
export type TaskIntent = z.output<typeof taskCreate>;

/** What stopped a task that failed; of one with the verdict `limit`, which limit it reached (absent: the account's usage limit). */
export const failureCause = z
  .string()
  .regex(
    /^(backend|workspace|hook:[a-z]+|dependency|agent|auth|budget|timeout|infrastructure|wall|cpu|memory|processes|output|disk)$/,
  );

/** What the repository's own script said last. */
export const validationOutcome = z.object({
  passed: z.boolean(),
  exitCode: z.int().nullable(),
  timedOut: z.boolean(),
  /** The bound that stopped it, `memory` for one; null: it ended by itself, or ran out of time. */
  limit: z.string().nullable().default(null),
  /** Head and tail of both streams, at most 64 KiB. */
  output: z.string(),
  outputBytes: z.int(),
});

/** The result of a task. */
export const taskResult = z.object({
  /** The last words of the agent, at most 4,000 characters. */
  summary: z.string().nullable(),
  /** The answer of a task with an output schema, as it was checked. */
  output: z.unknown().default(null),
  /** What the model said of the goal last; null: there is none, or it was not asked. */
  goal: z.object({ met: z.boolean(), reason: z.string() }).nullable().default(null),
  baseSha: z.string().nullable(),
  headSha: z.string().nullable(),
  /** Where the result is kept in the mirror. */
  resultRef: z.string().nullable(),
  filesChanged: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  commits: z.int(),
  salvageRef: z.string().nullable(),
  validation: validationOutcome.nullable(),
  usage: usageTotals,
});
export type TaskResult = z.output<typeof taskResult>;

/** A task as clients see it. */
export const task = z.object({
  id: z.string(),
  seq: z.int(),
  state: taskState,
  /** Why it waits, in words. */
  waitingFor: z.string().nullable(),
  verdict: verdict.nullable(),
  cause: failureCause.nullable(),
  /** One line about the cause, for people. */
  reason: z.string().nullable(),
  prompt: z.string(),
  promptBytes: z.int(),
  project: z.object({ id: z.string(), name: z.string(), path: z.string() }).nullable(),
  /** The agent whose definition it runs with. */
  agent: agentRef.nullable().default(null),
  harness: z.string(),
  model: z.string().nullable(),
  backend: z.string(),
  goal: z.string().nullable(),
  base: z.string().nullable(),
  branch: z.string().nullable(),
  readOnly: z.boolean(),
  /** Whether a person works with the program's own full screen. */
  interactive: z.boolean(),
  priority: z.int(),
  /** The task whose conversation it continues. */
  continues: z.string().nullable(),
  dependsOn: z.array(z.string()),
  notBefore: instant.nullable(),
  series: z.string().nullable(),
  attempts: z.int(),
  result: taskResult.nullable(),
  origin: taskOrigin,
  requestId: z.string(),
  /** True when the same request was sent before and this is its task. */
  replayed: z.boolean(),
  appliedAt: instant.nullable(),
  /** The newest one of its result. */
  pullRequest: pullRequest.nullable().default(null),
  createdAt: instant,
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
});
export type Task = z.output<typeof task>;

/** Which tasks a list holds. */
export const taskListQuery = pageQuery.extend({
  state: taskState.optional(),
  project: z.string().max(200).optional(),
  series: z.string().max(100).optional(),
});

/** One go through one stage. */
export const stage = z.object({
  name: stageName,
  /** 1 for the first drive, 2 for the one after a failed validation, … */
  round: z.int(),
  state: z.enum(['running', 'passed', 'failed', 'skipped', 'timeout', 'interrupted']),
  exitCode: z.int().nullable(),
  note: z.string().nullable(),
  output: z.string().nullable(),
  startedAt: instant,
  endedAt: instant.nullable(),
});
export type Stage = z.output<typeof stage>;

/** One go at a task. */
export const attempt = z.object({
  id: z.string(),
  taskId: z.string(),
  number: z.int(),
  environmentId: z.string().nullable(),
  conversation: z.string().nullable(),
  backend: z.string(),
  guarantees: z.array(z.object({ guarantee: z.string(), held: z.boolean(), by: z.string(), missing: z.string().nullable() })),
  verdict: verdict.nullable(),
  cause: failureCause.nullable(),
  reason: z.string().nullable(),
  stages: z.array(stage),
  startedAt: instant,
  endedAt: instant.nullable(),
});
export type Attempt = z.output<typeof attempt>;

/** The change a task made, against its base. */
export const taskDiff = z.object({
  taskId: z.string(),
  baseSha: z.string(),
  headSha: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      oldPath: z.string().nullable(),
      status: z.string(),
      insertions: z.int().nullable(),
      deletions: z.int().nullable(),
    }),
  ),
  /** Unified patch; cut at 4 MiB, then `truncated` says so. */
  patch: z.string(),
  truncated: z.boolean(),
});
export type TaskDiff = z.output<typeof taskDiff>;

/** How a result is brought into the user's repository. */
export const taskApply = z.strictObject({
  /** `branch` writes a branch and leaves the tree alone; `tree` also updates a clean checked-out tree. */
  mode: z.enum(['branch', 'tree']).default('tree'),
  branch: z.string().min(1).max(200).optional(),
  /** Files and hunks that stay behind: one commit with the rest is applied. */
  without: leftOut.default([]),
});
export const taskApplied = z.object({
  taskId: z.string(),
  branch: z.string().nullable(),
  headSha: z.string(),
  /** Whether the user's checked-out files were updated. */
  treeUpdated: z.boolean(),
  note: z.string(),
});
export type TaskApplied = z.output<typeof taskApplied>;
