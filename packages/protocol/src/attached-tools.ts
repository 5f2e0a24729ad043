import { z } from 'zod';
import { requestId } from './scalars.ts';
import { taskFields, taskState } from './task.ts';

// The tools that an attached session is offered: one row each, made of what tasks are made of.

const task = z.string().min(1).max(100).describe('Id of the task, or an unambiguous beginning of it');

/** Longest that one call waits for a task, seconds: below what programs wait for a tool. */
export const TOOL_WAIT_SECONDS = 50;
/** Characters of a patch in one answer. */
export const TOOL_DIFF_CHARS = 60_000;

const { prompt, agent, harness, model, effort, backend, environment, continues, dependsOn, base, branch, readOnly } =
  taskFields.shape;
const { maxRetries, budgetUsd, goal, outputSchema } = taskFields.shape;

/** What a tool is to whoever chooses among tools. */
type ToolRow = { readonly summary: string; readonly reads: boolean; readonly input: z.ZodObject };

export const attachedTools = {
  whoami: {
    summary: 'Your session in this Orrery node: its id and name, as whom you ask, and where.',
    reads: true,
    input: z.strictObject({}),
  },
  task_create: {
    summary:
      'Queue a task: another agent does it by itself in an isolated checkout of its own, and what it made is checked. Answers its id at once; wait for it with task_wait. Nothing of it reaches the files of this folder.',
    reads: false,
    input: z.strictObject({
      prompt: prompt.min(1).describe('What is to be done, with everything the other agent has to know: it sees nothing else'),
      project: z
        .string()
        .min(1)
        .max(4096)
        .nullable()
        .optional()
        .describe('Id, name or path of a project. Default: the repository of this folder; null: an empty folder'),
      ...{ agent, harness, model, effort, backend, environment, base, branch, goal, outputSchema },
      ...{ continues: continues.describe('Id of an ended task to go on from, with its conversation'), dependsOn },
      ...{ readOnly: readOnly.describe('Only read, and answer'), maxRetries, budgetUsd },
      requestId: requestId.optional().describe('The same id with the same words is the same task, however often it is asked for'),
    }),
  },
  task_list: {
    summary: 'Tasks, newest first: those of this session, or all.',
    reads: true,
    input: z.strictObject({
      all: z.boolean().default(false).describe('Also those that others asked for'),
      state: taskState.optional(),
      limit: z.int().min(1).max(50).default(20),
    }),
  },
  task_show: {
    summary: 'One task: its state and, when it has ended, its verdict, the last words of its agent and what it changed.',
    reads: true,
    input: z.strictObject({ task }),
  },
  task_wait: {
    summary: 'Wait until a task has ended, then its result; when the time is over before, what it is doing: wait again.',
    reads: true,
    input: z.strictObject({ task, seconds: z.int().min(1).max(600).default(TOOL_WAIT_SECONDS) }),
  },
  task_diff: {
    summary: 'The patch that a task made, against the commit it began at.',
    reads: true,
    input: z.strictObject({
      task,
      offset: z.int().min(0).max(100_000_000).default(0).describe('Characters to leave out at the beginning'),
    }),
  },
  task_cancel: {
    summary: 'Cancel a task that this session asked for. What it made so far is kept.',
    reads: false,
    input: z.strictObject({ task }),
  },
} as const satisfies Record<string, ToolRow>;

export type AttachedTool = keyof typeof attachedTools;
export type ToolInput<Name extends AttachedTool> = z.output<(typeof attachedTools)[Name]['input']>;
