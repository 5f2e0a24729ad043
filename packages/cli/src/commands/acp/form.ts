// Questions as a form of the editor's, and what was filled in as answers. Pure.

import type { CreateElicitationRequest } from '@agentclientprotocol/sdk';
import type { Answers, InteractionAnswer, InteractionAsk, Question } from '@orrery/protocol';

/** Longest answer in words, characters (the node's own bound). */
const WORDS = 20_000;

type Form = Extract<CreateElicitationRequest, { mode: 'form' }>['requestedSchema'];
type Field = NonNullable<Form['properties']>[string];

const bounds = <Low extends string, High extends string>({ min, max }: Question, [low, high]: readonly [Low, High]) => ({
  ...(min === null ? {} : { [low]: min }),
  ...(max === null ? {} : { [high]: max }),
});

const fieldOf = (asked: Question): Field => {
  const named = { title: asked.header ?? asked.text, description: asked.text };
  const options = asked.choices.map(({ value, label }) => ({ const: value, title: label }));
  if (asked.several) return { ...named, type: 'array', items: { anyOf: options }, ...bounds(asked, ['minItems', 'maxItems']) };
  if (options.length > 0 && !asked.free) return { ...named, type: 'string', oneOf: options };
  switch (asked.type) {
    case 'yes-no':
      return { ...named, type: 'boolean' };
    case 'number':
    case 'integer':
      return { ...named, type: asked.type, ...bounds(asked, ['minimum', 'maximum']) };
    case 'text':
      return { ...named, type: 'string', maxLength: WORDS, ...bounds(asked, ['minLength', 'maxLength']) };
  }
};

/** The form that asks them. */
export const formOf = (questions: readonly Question[]): Form => ({
  type: 'object',
  properties: Object.fromEntries(questions.map((asked) => [asked.key, fieldOf(asked)])),
  required: questions.filter(({ required }) => required).map(({ key }) => key),
});

const isValue = (value: unknown): value is Answers[string] =>
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/** What was filled in, of what was asked; null: nothing that could be an answer. */
export const answerOfForm = ({ questions }: InteractionAsk, given: object): Omit<InteractionAnswer, 'revision'> | null => {
  const content = 'content' in given && typeof given.content === 'object' && given.content !== null ? given.content : {};
  const filled = questions.flatMap(({ key }): [string, Answers[string]][] => {
    const value: unknown = Object.hasOwn(content, key) ? (content as Record<string, unknown>)[key] : undefined;
    return isValue(value) && !(typeof value === 'string' && (value === '' || value.length > WORDS)) ? [[key, value]] : [];
  });
  return filled.length === 0 && questions.some(({ required }) => required)
    ? null
    : { outcome: 'answered', answers: Object.fromEntries(filled) };
};
