// What a program asks, as it may be kept, and what a session's mode answers by itself.

import type { InteractionAsk } from '@orrery/protocol';
import { clip } from '../../harness/clip.ts';
import { SESSION_ASK_BYTES, SESSION_ASK_ITEMS, SESSION_ASK_TITLE_BYTES } from '../../kernel/limits.ts';
import { holdsOrders, insideOf } from '../../policy/index.ts';

/** All that are open. */
export const EVERY_ASK = 1_000_000_000;

/** What nobody but a person can answer. */
const WORDS: ReadonlySet<InteractionAsk['kind']> = new Set(['question', 'form', 'plan']);

/** Whether a mode says yes to it. A question, a form or a plan is always a person's, and so is what lies beside the checkout. */
export const allowsByItself = (mode: string, { kind, paths }: InteractionAsk, workdir: string): boolean => {
  if (mode === 'all') return !WORDS.has(kind);
  return mode === 'edits' && kind === 'edit' && paths.length > 0 && paths.every((path) => isWork(workdir, path));
};

const isWork = (workdir: string, path: string): boolean => {
  const inside = insideOf(workdir, path);
  return inside !== null && !holdsOrders(inside);
};

/** What it asks, within the bounds of a row. What cannot be shown whole cannot be approved. */
export const bounded = (ask: InteractionAsk): InteractionAsk => {
  const command = ask.command === null ? null : clip(ask.command, SESSION_ASK_BYTES);
  const paths = ask.paths.slice(0, SESSION_ASK_ITEMS).map((path) => clip(path, SESSION_ASK_TITLE_BYTES));
  const detail = clip(ask.detail, SESSION_ASK_BYTES);
  const whole =
    fits(ask.questions) &&
    (ask.kind !== 'plan' || detail === ask.detail) &&
    command === ask.command &&
    paths.length === ask.paths.length &&
    paths.every((path, at) => path === ask.paths[at]);
  return {
    ...ask,
    tool: ask.tool === null ? null : clip(ask.tool, SESSION_ASK_TITLE_BYTES),
    title: clip(ask.title, SESSION_ASK_TITLE_BYTES),
    command,
    paths,
    detail,
    questions: whole ? ask.questions : [],
    outcomes: whole ? ask.outcomes : ask.outcomes.filter((outcome) => outcome === 'denied'),
  };
};

/** Whether a person can be shown all of them. */
const fits = (questions: InteractionAsk['questions']): boolean =>
  questions.length <= SESSION_ASK_ITEMS &&
  questions.every(({ choices }) => choices.length <= SESSION_ASK_ITEMS) &&
  Buffer.byteLength(JSON.stringify(questions)) <= SESSION_ASK_BYTES;
