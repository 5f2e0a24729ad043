// Glossary. A work is what a program runs beside its turn: a sub-agent, or a command in the background. Works that are
// open when their process ends are told as detached, so that none stays active for ever.

import { conversationBody, type ConversationBody, type PlanEntry } from '@orrery/protocol';
import { z } from 'zod';
import { clip } from './clip.ts';
import { MAX_NAME_BYTES, MAX_OPEN_WORKS, MAX_PLAN_ENTRIES } from './limits.ts';

/** A plan within its bounds. */
export const boundedPlan = (entries: readonly PlanEntry[]): PlanEntry[] =>
  entries.slice(0, MAX_PLAN_ENTRIES).map(({ text, status }) => ({ text: clip(text, MAX_NAME_BYTES), status }));

/** What a work is called: one line. */
export const nameOfWork = (text: string): string => clip(text.trim().split('\n')[0] ?? '', MAX_NAME_BYTES);

export type Work = Extract<ConversationBody, { kind: 'agent' | 'background' }>;

/** Works that are open, as a dialogue keeps them. */
export const openWorks = z.array(conversationBody).catch([]).default([]);

const isWork = (body: ConversationBody): body is Work => body.kind === 'agent' || body.kind === 'background';

/** What is open after these events; the oldest are forgotten beyond the limit. */
export const worksAfter = (
  open: readonly ConversationBody[],
  events: readonly ConversationBody[],
): readonly ConversationBody[] => {
  if (!events.some(isWork)) return open;
  let works = open.filter(isWork);
  for (const body of events.filter(isWork)) {
    works = works.filter(({ kind, row }) => kind !== body.kind || row !== body.row);
    if (body.state === 'running') works = [...works, body];
  }
  return works.slice(-MAX_OPEN_WORKS);
};

/** The process is gone: what ran in it is over, however it went. */
export const detached = (open: readonly ConversationBody[]): readonly ConversationBody[] =>
  open.filter(isWork).map((work) => ({ ...work, state: 'detached', summary: null }));
