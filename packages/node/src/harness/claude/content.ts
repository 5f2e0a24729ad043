// What Claude Code tells beside words and tools: its to-do list, how full its window is, that it summed up, its
// sub-agents, and commands that go on beside the turn. Pure.

import type { ConversationBody, PlanEntry } from '@orrery/protocol';
import { z } from 'zod';
import { clip } from '../clip.ts';
import { boundedPlan, nameOfWork } from '../content.ts';
import { INLINE_NOTICE_BYTES, MAX_OPEN_WORKS, MAX_PLAN_ENTRIES } from '../limits.ts';
import { assistantBlock, userBlock } from './wire.ts';

const message = z.object({ id: z.string(), text: z.string(), thinking: z.string() });
const shape = z.object({
  todos: z.array(z.object({ id: z.string(), text: z.string(), status: z.enum(['pending', 'active', 'done']) })),
  /** Changes of the list that were called for and have no result yet. */
  updates: z.array(z.object({ call: z.string(), task: z.string(), status: z.string().nullable(), text: z.string().nullable() })),
  /** What runs beside: by its own id, with the row it is told under. */
  works: z.array(z.object({ id: z.string(), row: z.string(), kind: z.enum(['agent', 'background']), name: z.string() })),
  /** Model responses of sub-agents being told; they come between those of the program itself. */
  messages: z.array(message),
  used: z.int().nullable(),
  window: z.int().nullable(),
  model: z.string().nullable(),
});
export type ClaudeContent = z.output<typeof shape>;

/** Nothing was told yet. */
export const noContent: ClaudeContent = {
  todos: [],
  updates: [],
  works: [],
  messages: [],
  used: null,
  window: null,
  model: null,
};
/** A state of an earlier version has none of it. */
export const claudeContent = shape.default(noContent);

type Heard = { readonly content: ClaudeContent; readonly events: readonly ConversationBody[] };
const nothing = (content: ClaudeContent): Heard => ({ content, events: [] });

const frameOf = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('system'),
    subtype: z.string(),
    model: z.string().nullish(),
    task_id: z.string().optional(),
    tool_use_id: z.string().nullish(),
    description: z.string().nullish(),
    task_type: z.string().nullish(),
    status: z.string().nullish(),
    summary: z.string().nullish(),
    compact_metadata: z
      .object({ trigger: z.string(), pre_tokens: z.int().nullish(), post_tokens: z.int().nullish() })
      .nullish()
      .catch(null),
  }),
  z.object({
    type: z.literal('assistant'),
    parent_tool_use_id: z.string().nullish(),
    message: z.object({
      content: z.array(z.unknown()),
      usage: z
        .object({
          input_tokens: z.int().catch(0),
          cache_read_input_tokens: z.int().catch(0),
          cache_creation_input_tokens: z.int().catch(0),
        })
        .nullish(),
    }),
  }),
  z.object({
    type: z.literal('user'),
    parent_tool_use_id: z.string().nullish(),
    tool_use_result: z.unknown().optional(),
    message: z.object({ content: z.union([z.string(), z.array(z.unknown())]) }),
  }),
  z.object({
    type: z.literal('result'),
    modelUsage: z.record(z.string(), z.object({ contextWindow: z.int().nullish() })).nullish(),
  }),
]);
type Frame = z.output<typeof frameOf>;

/** One frame; whatever it is not about is left as it is. */
export const hearContent = (content: ClaudeContent, value: unknown): Heard => {
  const { data } = frameOf.safeParse(value);
  switch (data?.type) {
    case 'system':
      return onSystem(content, data);
    case 'assistant':
      return onAssistant(content, data);
    case 'user':
      return onUser(content, data);
    case 'result':
      return onResult(content, data);
    case undefined:
      return nothing(content);
  }
};

type System = Extract<Frame, { type: 'system' }>;

const onSystem = (content: ClaudeContent, frame: System): Heard => {
  switch (frame.subtype) {
    case 'init':
      return nothing({ ...content, model: frame.model ?? content.model });
    case 'compact_boundary':
      return onCompacted(content, frame.compact_metadata ?? null);
    case 'task_started':
      return onWork(content, frame);
    case 'task_notification':
      return onWorkEnd(content, frame);
    default:
      return nothing(content);
  }
};

const onCompacted = (content: ClaudeContent, told: (System['compact_metadata'] & {}) | null): Heard => {
  const afterTokens = told?.post_tokens ?? null;
  const used = afterTokens ?? content.used;
  return {
    content: { ...content, used },
    events: [
      {
        kind: 'compacted',
        trigger: told?.trigger === 'auto' ? 'auto' : 'manual',
        beforeTokens: told?.pre_tokens ?? null,
        afterTokens,
      },
      ...(afterTokens === null ? [] : [{ kind: 'context', usedTokens: afterTokens, windowTokens: content.window } as const]),
    ],
  };
};

/** What it runs beside the turn. Other kinds than these two are its own affairs. */
const kinds: Readonly<Record<string, 'agent' | 'background'>> = { local_agent: 'agent', local_bash: 'background' };

const onWork = (content: ClaudeContent, frame: System): Heard => {
  const kind = kinds[frame.task_type ?? ''];
  if (kind === undefined || frame.task_id === undefined) return nothing(content);
  const work = { id: frame.task_id, row: frame.tool_use_id ?? frame.task_id, kind, name: nameOfWork(frame.description ?? kind) };
  return {
    content: { ...content, works: [...content.works, work].slice(-MAX_OPEN_WORKS) },
    events: [{ kind, row: work.row, name: work.name, state: 'running', summary: null }],
  };
};

const onWorkEnd = (content: ClaudeContent, frame: System): Heard => {
  const work = content.works.find(({ id }) => id === frame.task_id);
  if (work === undefined) return nothing(content);
  const state = frame.status === 'completed' || frame.status === 'failed' ? frame.status : 'stopped';
  const summary = frame.summary == null ? null : clip(frame.summary, INLINE_NOTICE_BYTES);
  return {
    content: { ...content, works: content.works.filter(({ id }) => id !== work.id) },
    events: [{ kind: work.kind, row: work.row, name: work.name, state, summary }],
  };
};

const todoInput = z.object({ todos: z.array(z.object({ content: z.string(), status: z.string().catch('pending') })) });
const updateInput = z.object({
  taskId: z.string(),
  status: z.string().nullable().catch(null).default(null),
  subject: z.string().nullable().catch(null).default(null),
});

const statuses: Readonly<Record<string, PlanEntry['status']>> = { in_progress: 'active', completed: 'done' };
const statusOf = (status: string): PlanEntry['status'] => statuses[status] ?? 'pending';

const onAssistant = (content: ClaudeContent, frame: Extract<Frame, { type: 'assistant' }>): Heard => {
  // A sub-agent has a window and a list of its own.
  if (frame.parent_tool_use_id != null) return nothing(content);
  const { usage } = frame.message;
  // What it says by itself, without a model, took none.
  const took = usage == null ? 0 : usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  const used = took === 0 ? content.used : took;
  let heard: Heard = nothing({ ...content, used });
  for (const part of frame.message.content) {
    const block = assistantBlock.safeParse(part).data;
    if (block?.type !== 'tool_use') continue;
    if (block.name === 'TodoWrite') heard = replaceList(heard, block.input);
    if (block.name === 'TaskUpdate') heard = { ...heard, content: noteUpdate(heard.content, block) };
  }
  return heard;
};

const replaceList = ({ content, events }: Heard, given: unknown): Heard => {
  const list = todoInput.safeParse(given).data?.todos;
  if (list === undefined) return { content, events };
  const todos = list
    .slice(0, MAX_PLAN_ENTRIES)
    .map(({ content: text, status }, at) => ({ id: `todo-${at}`, text, status: statusOf(status) }));
  return { content: { ...content, todos }, events: [...events, planOf(todos)] };
};

const noteUpdate = (content: ClaudeContent, { id: call, input }: { id: string; input?: unknown }): ClaudeContent => {
  const { data } = updateInput.safeParse(input);
  if (data === undefined) return content;
  const update = { call, task: data.taskId, status: data.status, text: data.subject };
  return { ...content, updates: [...content.updates, update].slice(-MAX_OPEN_WORKS) };
};

const planOf = (todos: ClaudeContent['todos']): ConversationBody => ({
  kind: 'plan',
  row: 'plan',
  entries: boundedPlan(todos.map(({ text, status }) => ({ text, status }))),
});

const taskMade = z.object({ task: z.object({ id: z.string(), subject: z.string() }) });

const onUser = (content: ClaudeContent, frame: Extract<Frame, { type: 'user' }>): Heard => {
  if (frame.parent_tool_use_id != null || typeof frame.message.content === 'string') return nothing(content);
  const made = taskMade.safeParse(frame.tool_use_result).data?.task;
  if (made !== undefined) {
    const todo = { id: made.id, text: made.subject, status: 'pending' as const };
    const todos = [...content.todos.filter(({ id }) => id !== made.id), todo].slice(-MAX_PLAN_ENTRIES);
    return { content: { ...content, todos }, events: [planOf(todos)] };
  }
  const results = frame.message.content.map((part) => userBlock.safeParse(part).data ?? null);
  const update = content.updates.find(({ call }) => results.some((result) => result?.tool_use_id === call));
  if (update === undefined) return nothing(content);
  const updates = content.updates.filter(({ call }) => call !== update.call);
  const failed = results.some((result) => result?.tool_use_id === update.call && result.is_error === true);
  if (failed) return nothing({ ...content, updates });
  const todos = updated(content.todos, update);
  return { content: { ...content, updates, todos }, events: [planOf(todos)] };
};

const updated = (
  todos: ClaudeContent['todos'],
  { task, status, text }: ClaudeContent['updates'][number],
): ClaudeContent['todos'] => {
  if (status === 'deleted') return todos.filter(({ id }) => id !== task);
  // The list of an earlier process is the program's own: what it says of an entry nobody has seen is kept by its number.
  const known = todos.find(({ id }) => id === task) ?? { id: task, text: `task ${task}`, status: 'pending' as const };
  const next = { id: task, text: text ?? known.text, status: status === null ? known.status : statusOf(status) };
  return todos.some(({ id }) => id === task)
    ? todos.map((todo) => (todo.id === task ? next : todo))
    : [...todos, next].slice(-MAX_PLAN_ENTRIES);
};

const onResult = (content: ClaudeContent, { modelUsage }: Extract<Frame, { type: 'result' }>): Heard => {
  const window = (content.model === null ? null : modelUsage?.[content.model]?.contextWindow) ?? content.window;
  const next = { ...content, window };
  if (next.used === null) return nothing(next);
  return { content: next, events: [{ kind: 'context', usedTokens: next.used, windowTokens: window }] };
};

/** Puts what a sub-agent said under its name. */
export const underAgent = (events: readonly ConversationBody[], agent: string): readonly ConversationBody[] =>
  events.map((body) =>
    body.kind === 'text' || body.kind === 'thinking' || body.kind === 'tool.call' || body.kind === 'tool.result'
      ? { ...body, agent }
      : body,
  );

/** The response of a sub-agent that goes on, or a new one. */
export const agentMessage = ({ messages }: ClaudeContent, id: string): ClaudeContent['messages'][number] =>
  messages.find((one) => one.id === id) ?? { id, text: '', thinking: '' };

/** Responses of sub-agents that are remembered. */
const REMEMBERED_MESSAGES = 8;

/** Keeps it. */
export const withMessage = (content: ClaudeContent, kept: ClaudeContent['messages'][number]): ClaudeContent => ({
  ...content,
  messages: [...content.messages.filter(({ id }) => id !== kept.id), kept].slice(-REMEMBERED_MESSAGES),
});
