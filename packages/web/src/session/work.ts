// What of a transcript goes on beside the words: the plan, sub-agents, commands in the background. Pure.

import type { EventBody } from '@orrery/protocol';
import type { Row } from '../state/transcript.ts';

type Body<Kind extends EventBody['kind']> = Extract<EventBody, { kind: Kind }>;
export type PlanEntry = Body<'plan'>['entries'][number];
export type Side = Pick<Body<'agent'>, 'row' | 'name' | 'state' | 'summary'> & { readonly kind: 'agent' | 'background' };

/** The newest plan, and all that works or worked beside the turn, those that still do first. */
export type Work = { readonly plan: readonly PlanEntry[]; readonly beside: readonly Side[] };

export const workOf = (rows: readonly Pick<Row, 'event'>[]): Work => {
  let newest = 0;
  let plan: readonly PlanEntry[] = [];
  const beside: Side[] = [];
  for (const { event } of rows) {
    const { body } = event;
    if (body.kind === 'plan' && (event.sequence ?? 0) >= newest) {
      newest = event.sequence ?? 0;
      plan = body.entries;
    }
    if (body.kind === 'agent' || body.kind === 'background') beside.push(body);
  }
  return { plan, beside: [...beside.filter(isRunning), ...beside.filter((one) => !isRunning(one))] };
};

const isRunning = ({ state }: Side): boolean => state === 'running';

/** In short: `plan 2 of 5 · 1 sub-agent`; null: there is nothing. */
export const workInShort = ({ plan, beside }: Work): string | null => {
  const running = beside.filter(isRunning);
  const words = [
    plan.length === 0 ? null : `plan ${plan.filter(({ status }) => status === 'done').length} of ${plan.length}`,
    counted(running, 'agent', 'sub-agent'),
    counted(running, 'background', 'background command'),
    running.length === 0 && beside.length > 0 ? `${beside.length} beside, none runs` : null,
  ].filter((one) => one !== null);
  return words.length === 0 ? null : words.join(' · ');
};

const counted = (all: readonly Side[], kind: Side['kind'], name: string): string | null => {
  const { length } = all.filter((one) => one.kind === kind);
  return length === 0 ? null : `${length} ${name}${length === 1 ? '' : 's'}`;
};

/** How full a window is: 0 to 1; null: the program did not say how large it is. */
export const fullness = (context: { readonly usedTokens: number; readonly windowTokens: number | null }): number | null =>
  context.windowTokens === null || context.windowTokens <= 0
    ? null
    : Math.min(1, Math.max(0, context.usedTokens / context.windowTokens));

/** A count for people: `950`, `12.4k`, `1.2M`. */
export const tokensText = (count: number): string => {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${(count / 1_000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
};
