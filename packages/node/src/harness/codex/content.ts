// What Codex tells beside words and tools: plans, how full its window is, that it summed up, and its sub-agents, each of
// which is a thread of its own. Pure.

import type { ConversationBody, PlanEntry } from '@orrery/protocol';
import { z } from 'zod';
import { clip } from '../clip.ts';
import { boundedPlan, nameOfWork } from '../content.ts';
import type { Spoken } from '../dialogue.ts';
import { INLINE_NOTICE_BYTES } from '../limits.ts';
import { itemRows } from './items.ts';
import type { State } from './session-state.ts';
import { itemNotice, tokenNotice, turnNotice } from './session-wire.ts';

const threadOf = z.object({ params: z.object({ threadId: z.string() }) });

/** The thread of a sub-agent that a notice is of; null: the conversation's own, or of none. */
export const agentOf = (now: State, frame: unknown): string | null => {
  const id = threadOf.safeParse(frame).data?.params.threadId;
  return id === undefined || now.thread === null || id === now.thread ? null : id;
};

/** What a sub-agent tells goes into the log under its name, and settles nothing else. */
export const onAgentNotice = (
  now: State,
  agent: string,
  { method, frame }: { readonly method: string; readonly frame: unknown },
): Spoken<State> => {
  if (method === 'item/started' || method === 'item/completed') {
    const item = itemNotice.safeParse(frame).data?.params.item;
    if (item === undefined) return { state: now };
    return { state: now, events: itemRows(item, method === 'item/completed').map((body) => ({ ...body, agent })) };
  }
  if (method !== 'turn/completed') return { state: now };
  const status = turnNotice.safeParse(frame).data?.params.turn.status;
  const state = status === 'completed' ? 'completed' : status === 'failed' ? 'failed' : 'stopped';
  return { state: now, events: [{ kind: 'agent', row: agent, name: now.agents[agent] ?? 'agent', state, summary: null }] };
};

const planNotice = z.object({
  params: z.object({ turnId: z.string(), plan: z.array(z.object({ step: z.string(), status: z.string() })) }),
});
const statuses: Readonly<Record<string, PlanEntry['status']>> = { inProgress: 'active', completed: 'done' };

/** Its plan, whole. */
export const onPlan = (now: State, frame: unknown): Spoken<State> => {
  const told = planNotice.safeParse(frame).data?.params;
  if (told === undefined) return { state: now, drift: 'turn/plan/updated of another shape' };
  const entries = told.plan.map(({ step, status }) => ({ text: step, status: statuses[status] ?? 'pending' }));
  return { state: now, events: [{ kind: 'plan', row: `plan-${told.turnId}`, entries: boundedPlan(entries) }] };
};

/** Tokens of the turn so far: by the thread's sums, since the same step is told more than once. */
export const onTokens = (now: State, frame: unknown): Spoken<State> => {
  const told = tokenNotice.safeParse(frame).data?.params.tokenUsage;
  if (told === undefined) return { state: now, drift: 'thread/tokenUsage/updated of another shape' };
  const { total, last, modelContextWindow: window } = told;
  const before = now.total;
  const step =
    before === null
      ? { input: last.inputTokens, output: last.outputTokens, cached: last.cachedInputTokens }
      : {
          input: Math.max(0, total.inputTokens - before.input),
          output: Math.max(0, total.outputTokens - before.output),
          cached: Math.max(0, total.cachedInputTokens - before.cached),
        };
  const { input, output, cached } = now.usage;
  return {
    state: {
      ...now,
      usage: { input: input + step.input, output: output + step.output, cached: cached + step.cached },
      total: { input: total.inputTokens, output: total.outputTokens, cached: total.cachedInputTokens },
      context: { usedTokens: last.totalTokens, windowTokens: window ?? now.context?.windowTokens ?? null },
    },
  };
};

/** How full the window is, told once for each turn. */
export const contextRows = ({ context }: State): readonly ConversationBody[] =>
  context === null ? [] : [{ kind: 'context', ...context }];

type Compaction = { readonly kind: 'contextCompaction'; readonly ended: boolean };

/** It sums up what was said: when it begins, what is in the window is noted. */
export const onCompaction = (now: State, { ended }: Pick<Compaction, 'ended'>): Spoken<State> => {
  const used = now.context?.usedTokens ?? null;
  if (!ended) return { state: { ...now, compacting: { beforeTokens: used } } };
  const trigger = now.action === 'compact' ? 'manual' : 'auto';
  return {
    state: { ...now, compacting: null },
    events: [{ kind: 'compacted', trigger, beforeTokens: now.compacting?.beforeTokens ?? null, afterTokens: used }],
  };
};

const collab = z.object({
  params: z.object({
    item: z.object({
      type: z.literal('collabAgentToolCall'),
      tool: z.string(),
      receiverThreadIds: z.array(z.string()).catch([]),
      prompt: z.string().nullish(),
      agentsStates: z.record(z.string(), z.object({ status: z.string(), message: z.string().nullish() })).catch({}),
    }),
  }),
});

const agentStates: Readonly<Record<string, 'completed' | 'failed' | 'stopped'>> = {
  completed: 'completed',
  errored: 'failed',
  interrupted: 'stopped',
  shutdown: 'stopped',
  notFound: 'stopped',
};

/** Agents that it began, and what became of those that it asked after. Null: it is no call about agents. */
export const onCollab = (now: State, frame: unknown): Spoken<State> | null => {
  const item = collab.safeParse(frame).data?.params.item;
  if (item === undefined) return null;
  const spawned = item.tool === 'spawnAgent' ? item.receiverThreadIds.filter((id) => now.agents[id] === undefined) : [];
  const name = nameOfWork(item.prompt ?? 'agent');
  const agents = Object.fromEntries(
    [...Object.entries(now.agents), ...spawned.map((id) => [id, name])].slice(-REMEMBERED_AGENTS),
  );
  const begun = spawned.map((row): ConversationBody => ({ kind: 'agent', row, name, state: 'running', summary: null }));
  const over = Object.entries(item.agentsStates).flatMap(([row, { status, message }]): ConversationBody[] => {
    const state = agentStates[status];
    if (state === undefined) return [];
    return [
      {
        kind: 'agent',
        row,
        name: agents[row] ?? 'agent',
        state,
        summary: message == null ? null : clip(message, INLINE_NOTICE_BYTES),
      },
    ];
  });
  return { state: { ...now, agents }, events: [...begun, ...over] };
};

/** Names of sub-agents that are remembered. */
const REMEMBERED_AGENTS = 64;
