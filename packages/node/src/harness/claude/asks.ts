// What Claude Code asks before it uses a tool, and what it is answered.

import type { Answers, InteractionAsk, InteractionOutcome, Question } from '@orrery/protocol';
import { z } from 'zod';
import { asText, clip } from '../clip.ts';
import { formAnswer } from '../forms.ts';
import { INLINE_TEXT_BYTES } from '../limits.ts';

/** What it asks and has no answer to yet. A form is that of an MCP server. */
export const asked = z.object({
  tool: z.string(),
  input: z.unknown(),
  suggestions: z.unknown(),
  form: z.boolean().default(false),
});
type Asked = z.output<typeof asked>;

const input = z.object({
  command: z.string().optional().catch(undefined),
  file_path: z.string().optional().catch(undefined),
  notebook_path: z.string().optional().catch(undefined),
  plan: z.string().optional().catch(undefined),
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: z.string().nullish(),
        multiSelect: z.boolean().nullish(),
        options: z.array(z.object({ label: z.string(), description: z.string().nullish() })).catch([]),
      }),
    )
    .catch([]),
});
type Questions = z.output<typeof input>['questions'];

const questionsOf = (given: unknown): Questions => input.safeParse(given).data?.questions ?? [];

/** Its questions have no names of their own, and are told by their place. */
const keyOf = (at: number): string => `q${at + 1}`;

const toQuestion = ({ question, header, multiSelect, options }: Questions[number], at: number): Question => ({
  ...{ key: keyOf(at), header: header ?? null, text: question, type: 'text' },
  choices: options.map(({ label, description }) => ({ value: label, label, description: description ?? null })),
  several: multiSelect === true,
  // It takes words of one's own for each of its questions.
  ...{ free: true, required: true, min: null, max: null, format: null, initial: null },
});

/** Its tools that run what stands in `command`. */
const running = new Set(['Bash', 'Monitor', 'PowerShell', 'mcp__workspace__bash']);
const editing = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);
const decisions: readonly InteractionOutcome[] = ['approved', 'approved-for-session', 'denied'];

/** What it asks, in our words; the exact input goes with it. */
export const askOf = ({ tool, input: given, suggestions }: Asked, description: string | null): InteractionAsk => {
  const known = input.safeParse(given).data ?? { questions: [] };
  const detail = clip(asText(given), INLINE_TEXT_BYTES);
  const common = {
    ...{ tool, command: null, paths: [], detail, questions: [] },
    outcomes: suggestions === null ? ['approved', 'denied'] : [...decisions],
  } satisfies Partial<InteractionAsk>;
  if (tool === 'AskUserQuestion' && known.questions.length > 0) {
    const questions = known.questions.map(toQuestion);
    const [first] = questions;
    const title = questions.length === 1 ? (first?.text ?? '') : `${questions.length} questions`;
    return { ...common, kind: 'question', title, questions, outcomes: ['answered', 'denied'] };
  }
  if (tool === 'ExitPlanMode')
    return {
      ...common,
      kind: 'plan',
      title: 'Approve this plan?',
      // It keeps the plan in a file, and tells it with the question.
      detail: known.plan ?? 'It wrote no plan.',
      outcomes: ['approved', 'denied'],
    };
  if (known.command !== undefined && running.has(tool))
    return { ...common, kind: 'command', title: description ?? 'Run a command', command: known.command };
  const path = known.file_path ?? known.notebook_path;
  if (editing.has(tool) && path !== undefined) return { ...common, kind: 'edit', title: `${tool} ${path}`, paths: [path] };
  return { ...common, kind: 'tool', title: description ?? tool };
};

const refusals: Readonly<Partial<Record<InteractionOutcome, string>>> = {
  'timed-out': 'Nobody answered in time. It was not allowed.',
  withdrawn: 'The question was withdrawn. It was not allowed.',
};

/** Several answers to one question are one text to it. */
const asWords = (value: Answers[string] | undefined): string => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));

/** The program's form of an outcome. */
export const decisionOf = (
  question: Asked,
  given: { readonly outcome: InteractionOutcome; readonly answers: Answers | null; readonly message: string | null },
): object => {
  const { outcome, answers, message } = given;
  if (question.form) return formAnswer(outcome, answers);
  if (outcome === 'answered') {
    const said = questionsOf(question.input).map((one, at) => [one.question, asWords(answers?.[keyOf(at)])] as const);
    return { behavior: 'allow', updatedInput: { ...(question.input as object), answers: Object.fromEntries(said) } };
  }
  if (outcome === 'approved') return { behavior: 'allow', updatedInput: question.input };
  if (outcome === 'approved-for-session')
    return { behavior: 'allow', updatedInput: question.input, updatedPermissions: question.suggestions ?? [] };
  return { behavior: 'deny', message: message ?? refusals[outcome] ?? 'The person did not allow it.' };
};
