import { z } from 'zod';
import { answers, question } from './question.ts';
import { permissionMode } from './permission.ts';
import { policyNote } from './policy-note.ts';
import { instant } from './scalars.ts';

// A question, approval or plan that waits for a person (contracts/sessions.md, "Interactions").

/**
 * What is asked. `command` runs a program, `edit` changes files, `tool` is any other tool, `question` wants words or
 * choices of the agent's own, `form` is what a tool of the agent wants to know, `plan` wants approval of a plan.
 */
export const interactionKind = z.enum(['command', 'edit', 'tool', 'question', 'form', 'plan']);

export const interactionOutcome = z.enum(['approved', 'approved-for-session', 'denied', 'answered', 'timed-out', 'withdrawn']);
export type InteractionOutcome = z.output<typeof interactionOutcome>;

/** The exact thing that is asked. */
export const interactionAsk = z.object({
  kind: interactionKind,
  /** The tool as the program calls it. */
  tool: z.string().nullable(),
  title: z.string(),
  /** For commands: the command that will run. */
  command: z.string().nullable(),
  /** Files it is about. */
  paths: z.array(z.string()),
  /** With files: the checkout as the program sees it. */
  workdir: z.string().optional(),
  /** Everything else that the program said of it, as text (a diff, the input, the plan). */
  detail: z.string(),
  /** What is to be answered; empty: it is only allowed or denied. */
  questions: z.array(question).default([]),
  /** Outcomes that can be given. */
  outcomes: z.array(interactionOutcome),
  /** What the rules said of it; absent: no rule speaks of it. */
  policy: policyNote.optional(),
});
export type InteractionAsk = z.output<typeof interactionAsk>;

export const interactionView = z.object({
  id: z.string(),
  sessionId: z.string(),
  sessionName: z.string(),
  turn: z.int().nullable(),
  state: z.enum(['open', 'settled']),
  revision: z.int(),
  ask: interactionAsk,
  outcome: interactionOutcome.nullable(),
  /** What was answered. */
  answers: answers.nullable(),
  /** Who gave the answer. */
  by: z.string().nullable(),
  /** After it, the action does not happen; null: it waits as long as it takes. */
  deadlineAt: instant.nullable(),
  createdAt: instant,
  settledAt: instant.nullable(),
});
export type InteractionView = z.output<typeof interactionView>;

export const interactionAnswer = z.strictObject({
  revision: z.int().min(1),
  outcome: z.enum(['approved', 'approved-for-session', 'denied', 'answered']),
  /** With `answered`: an answer to each question, by its key. */
  answers: answers.optional(),
  /** Words for the agent: why something was denied. */
  message: z.string().max(20_000).optional(),
  /** With a plan that is approved: the mode to go on in. Default: `ask`, where it was only planning. */
  mode: permissionMode.exclude(['plan']).optional(),
});
export type InteractionAnswer = z.output<typeof interactionAnswer>;
