import { z } from 'zod';

// What is asked of a person in words or as a form, and what fits as an answer (contracts/sessions.md, "Interactions").

/** What can be chosen. The value is what is answered; the label is what is read. */
const choice = z.object({ value: z.string(), label: z.string(), description: z.string().nullable() });

/** One question of an interaction: a field of a form is one too. */
export const question = z.object({
  /** Its name among the answers. */
  key: z.string(),
  header: z.string().nullable(),
  text: z.string(),
  /** What its answer is; with choices: one of their values. */
  type: z.enum(['text', 'number', 'integer', 'yes-no']),
  choices: z.array(choice),
  /** More than one choice may be taken. */
  several: z.boolean(),
  /** Words of one's own are taken too. */
  free: z.boolean(),
  required: z.boolean(),
  /** Bounds of a number, of the characters of a text, or of how many are chosen; null: none. */
  min: z.number().nullable(),
  max: z.number().nullable(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).nullable(),
  /** What is answered when nothing is said. */
  initial: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable(),
});
export type Question = z.output<typeof question>;

/** Characters of one answer, and answers of several. */
const ANSWER_CHARS = 20_000;
const ANSWER_ITEMS = 100;

const answerText = z.string().max(ANSWER_CHARS);
export const answerValue = z.union([answerText, z.number(), z.boolean(), z.array(answerText).max(ANSWER_ITEMS)]);
export type AnswerValue = z.output<typeof answerValue>;

/** Answers by the keys of their questions. */
export const answers = z.record(z.string().max(1_000), answerValue);
export type Answers = z.output<typeof answers>;

const formats: Readonly<Record<NonNullable<Question['format']>, z.ZodType>> = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
};

const outside = ({ min, max }: Question, size: number, what: string): string | null => {
  if (min !== null && size < min) return `is below ${min}${what}`;
  return max !== null && size > max ? `is above ${max}${what}` : null;
};

const chosen = (asked: Question, value: string): string | null => {
  if (asked.free || asked.choices.some((one) => one.value === value)) return null;
  const known = asked.choices.slice(0, 10).map((one) => one.value);
  return `can be ${known.join(', ')}${asked.choices.length > known.length ? ' …' : ''}`;
};

/** What is wrong with one answer, or null. */
const wrongWith = (asked: Question, value: AnswerValue): string | null => {
  if (asked.several) {
    if (!Array.isArray(value)) return 'takes a list';
    if (new Set(value).size !== value.length) return 'takes each choice once';
    return value.map((one) => chosen(asked, one)).find((why) => why !== null) ?? outside(asked, value.length, ' choices');
  }
  switch (asked.type) {
    case 'yes-no':
      return typeof value === 'boolean' ? null : 'is yes or no';
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'is a number';
      if (asked.type === 'integer' && !Number.isSafeInteger(value)) return 'is a whole number';
      return outside(asked, value, '');
    case 'text':
      return typeof value === 'string' ? wrongText(asked, value) : 'is a text';
  }
};

const wrongText = (asked: Question, value: string): string | null => {
  if (asked.choices.length > 0) return chosen(asked, value);
  if (asked.format !== null && !formats[asked.format].safeParse(value).success) return `is no ${asked.format}`;
  return outside(asked, value.length, ' characters');
};

const isSaid = (value: AnswerValue | undefined): value is AnswerValue =>
  value !== undefined && !(typeof value === 'string' && value.trim() === '') && !(Array.isArray(value) && value.length === 0);

/** The answers that were given, without empty ones where none is needed. */
export const answersGiven = (questions: readonly Question[], given: Answers): Answers =>
  Object.fromEntries(
    questions.flatMap(({ key }) => {
      const value = Object.hasOwn(given, key) ? given[key] : undefined;
      return isSaid(value) ? [[key, value] as const] : [];
    }),
  );

/** Why answers do not fit what is asked, one line for each question; empty: they do. */
export const wrongAnswers = (questions: readonly Question[], given: Answers): string[] => {
  const keys = new Set(questions.map(({ key }) => key));
  const strange = Object.keys(given)
    .filter((key) => !keys.has(key))
    .map((key) => `"${key.slice(0, 100)}" is not asked`);
  const said = answersGiven(questions, given);
  const wrong = questions.flatMap((asked) => {
    const value = Object.hasOwn(said, asked.key) ? said[asked.key] : undefined;
    if (value === undefined) return asked.required ? [`"${asked.key}" has no answer`] : [];
    const why = wrongWith(asked, value);
    return why === null ? [] : [`"${asked.key}" ${why}`];
  });
  return [...strange, ...wrong];
};
