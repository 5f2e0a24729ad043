// What Claude Code asks before it uses a tool, and what it is answered.

import type { InteractionAsk, InteractionOutcome } from '@orrery/protocol';
import { z } from 'zod';
import { asText, clip } from '../clip.ts';
import { INLINE_TEXT_BYTES } from '../limits.ts';

/** A question that has no answer yet. */
export const asked = z.object({ tool: z.string(), input: z.unknown(), suggestions: z.unknown() });
type Asked = z.output<typeof asked>;

const input = z.object({
  command: z.string().optional().catch(undefined),
  file_path: z.string().optional().catch(undefined),
  notebook_path: z.string().optional().catch(undefined),
  plan: z.string().optional().catch(undefined),
  questions: z
    .array(z.object({ question: z.string(), options: z.array(z.object({ label: z.string() })).catch([]) }))
    .optional()
    .catch(undefined),
});

const editing = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);
const decisions: readonly InteractionOutcome[] = ['approved', 'approved-for-session', 'denied'];

/** What it asks, in our words; the exact input goes with it. */
export const askOf = ({ tool, input: given, suggestions }: Asked, description: string | null): InteractionAsk => {
  const known = input.safeParse(given).data ?? {};
  const detail = clip(asText(given), INLINE_TEXT_BYTES);
  const common = {
    tool,
    command: null,
    paths: [],
    detail,
    choices: [],
    outcomes: suggestions === null ? ['approved', 'denied'] : [...decisions],
  } satisfies Partial<InteractionAsk>;
  const [question] = known.questions ?? [];
  if (tool === 'AskUserQuestion' && question !== undefined)
    return {
      ...common,
      kind: 'question',
      title: question.question,
      choices: question.options.map(({ label }) => label),
      outcomes: ['answered', 'denied'],
    };
  if (tool === 'ExitPlanMode')
    return {
      ...common,
      kind: 'plan',
      title: 'Approve this plan?',
      detail: known.plan ?? detail,
      outcomes: ['approved', 'denied'],
    };
  if (known.command !== undefined && tool === 'Bash')
    return { ...common, kind: 'command', title: description ?? 'Run a command', command: known.command };
  const path = known.file_path ?? known.notebook_path;
  if (editing.has(tool) && path !== undefined) return { ...common, kind: 'edit', title: `${tool} ${path}`, paths: [path] };
  return { ...common, kind: 'tool', title: description ?? tool };
};

const refusals: Readonly<Partial<Record<InteractionOutcome, string>>> = {
  'timed-out': 'Nobody answered in time. It was not allowed.',
  withdrawn: 'The question was withdrawn. It was not allowed.',
};

/** The program's form of an outcome. */
export const decisionOf = (
  question: Asked,
  { outcome, message }: { outcome: InteractionOutcome; message: string | null },
): object => {
  if (outcome === 'answered') {
    const [first] = input.safeParse(question.input).data?.questions ?? [];
    const answers = first === undefined ? {} : { [first.question]: message ?? '' };
    return { behavior: 'allow', updatedInput: { ...(question.input as object), answers } };
  }
  if (outcome === 'approved') return { behavior: 'allow', updatedInput: question.input };
  if (outcome === 'approved-for-session')
    return { behavior: 'allow', updatedInput: question.input, updatedPermissions: question.suggestions ?? [] };
  return { behavior: 'deny', message: message ?? refusals[outcome] ?? 'The person did not allow it.' };
};
