// A form of a tool: a flat JSON schema, as MCP servers ask for with an elicitation, told as questions. Pure.

import type { Answers, InteractionAsk, InteractionOutcome, Question } from '@orrery/protocol';
import { z } from 'zod';
import { asText, clip } from './clip.ts';
import { INLINE_TEXT_BYTES } from './limits.ts';

const titled = z.array(z.object({ const: z.string(), title: z.string().nullish() }));
const words = { title: z.string().nullish(), description: z.string().nullish() };
const count = z.number().nullish();

const field = z.discriminatedUnion('type', [
  z.object({
    ...words,
    type: z.literal('string'),
    enum: z.array(z.string()).nullish(),
    enumNames: z.array(z.string()).nullish(),
    oneOf: titled.nullish(),
    minLength: count,
    maxLength: count,
    format: z.enum(['email', 'uri', 'date', 'date-time']).nullish().catch(null),
    default: z.string().nullish(),
  }),
  z.object({ ...words, type: z.enum(['number', 'integer']), minimum: count, maximum: count, default: count }),
  z.object({ ...words, type: z.literal('boolean'), default: z.boolean().nullish() }),
  z.object({
    ...words,
    type: z.literal('array'),
    items: z.union([z.object({ anyOf: titled }), z.object({ enum: z.array(z.string()) })]),
    minItems: count,
    maxItems: count,
    default: z.array(z.string()).nullish(),
  }),
]);
type Field = z.output<typeof field>;

const schema = z.object({
  properties: z
    .record(z.string(), field)
    .nullish()
    .transform((fields) => fields ?? {}),
  required: z.array(z.string()).nullish(),
});

type Choices = Question['choices'];

const plain = (values: readonly string[], names: readonly string[] = []): Choices =>
  values.map((value, at) => ({ value, label: names[at] ?? value, description: null }));
const withTitles = (options: z.output<typeof titled>): Choices =>
  options.map(({ const: value, title }) => ({ value, label: title ?? value, description: null }));

/** What belongs to its kind alone. */
const ofKind = (asked: Field): Partial<Question> & Pick<Question, 'type' | 'choices' | 'several' | 'min' | 'max' | 'initial'> => {
  switch (asked.type) {
    case 'string': {
      const choices = asked.oneOf == null ? plain(asked.enum ?? [], asked.enumNames ?? []) : withTitles(asked.oneOf);
      const bounds = { min: asked.minLength ?? null, max: asked.maxLength ?? null, initial: asked.default ?? null };
      return { type: 'text', choices, several: false, format: asked.format ?? null, ...bounds };
    }
    case 'number':
    case 'integer': {
      const bounds = { min: asked.minimum ?? null, max: asked.maximum ?? null, initial: asked.default ?? null };
      return { type: asked.type, choices: [], several: false, ...bounds };
    }
    case 'boolean':
      return { type: 'yes-no', choices: [], several: false, min: null, max: null, initial: asked.default ?? null };
    case 'array': {
      const choices = 'anyOf' in asked.items ? withTitles(asked.items.anyOf) : plain(asked.items.enum);
      const bounds = { min: asked.minItems ?? null, max: asked.maxItems ?? null, initial: asked.default ?? null };
      return { type: 'text', choices, several: true, ...bounds };
    }
  }
};

/** The fields of a schema as questions; null: it is no form that a person could be shown. `order`: of its fields, where the program told one. */
export const formQuestions = (given: unknown, order: readonly string[] = []): Question[] | null => {
  const { data } = schema.safeParse(given);
  if (data === undefined) return null;
  const keys = Object.keys(data.properties);
  const ordered = [...order.filter((key) => keys.includes(key)), ...keys.filter((key) => !order.includes(key))];
  return ordered.flatMap((key) => {
    const asked = data.properties[key];
    if (asked === undefined) return [];
    const { title, description } = asked;
    return [
      {
        ...{ key, header: title ?? null, text: description ?? title ?? key, free: false, format: null },
        required: data.required?.includes(key) ?? false,
        ...ofKind(asked),
      },
    ];
  });
};

/** What an MCP server asks for through the program. */
export type Elicitation = {
  readonly server: string;
  readonly message: string;
  /** Where a person is to go instead of filling in a form. */
  readonly url: string | null;
  readonly schema: unknown;
  readonly order?: readonly string[];
};

/** The form as it is asked. One without fields, or with a page to go to, is only agreed to. */
export const formAsk = ({ server, message, url, schema: asked, order }: Elicitation): InteractionAsk => {
  const questions = url === null ? formQuestions(asked, order) : [];
  const detail = url ?? (questions === null ? asText(asked) : message);
  return {
    kind: 'form',
    tool: server,
    title: message === '' ? `${server} asks for something` : message,
    command: null,
    paths: [],
    detail: clip(detail, INLINE_TEXT_BYTES),
    questions: questions ?? [],
    // What cannot be shown cannot be filled in.
    outcomes: questions === null ? ['denied'] : [questions.length === 0 ? 'approved' : 'answered', 'denied'],
  };
};

/** What the server is answered: a refusal and nobody's answer are two different things to it. */
export const formAnswer = (
  outcome: InteractionOutcome,
  answers: Answers | null,
): { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Answers } => {
  if (outcome === 'answered' || outcome === 'approved' || outcome === 'approved-for-session')
    return { action: 'accept', content: answers ?? {} };
  return { action: outcome === 'denied' ? 'decline' : 'cancel' };
};
