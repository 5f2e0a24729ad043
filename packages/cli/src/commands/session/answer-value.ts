import type { AnswerValue, InteractionAnswer, Question } from '@orrery/protocol';

/** Instead of an answer: the rule that would allow it is to be seen. */
export const BY_RULE = 'by a rule';

/** What is answered, without the revision that it is for. */
export type Given = Omit<InteractionAnswer, 'revision'>;

const YES = new Set(['y', 'yes', 'true', '1', 'on']);
const NO = new Set(['n', 'no', 'false', '0', 'off']);

/** A choice by its value, its label or its number; words of one's own as they are. */
const chosen = ({ choices }: Question, text: string): string => {
  const said = text.trim();
  const exact = choices.find(({ value }) => value === said) ?? choices.find(({ label }) => label === said);
  if (exact !== undefined) return exact.value;
  const alike = choices.find(({ value, label }) => [value, label].some((one) => one.toLowerCase() === said.toLowerCase()));
  if (alike !== undefined) return alike.value;
  return (/^\d{1,3}$/.test(said) ? choices[Number(said) - 1]?.value : undefined) ?? text;
};

/** What was typed, as the kind of answer that a question takes; what is none of it stays as it is, and the node says why it does not fit. */
export const valueOf = (asked: Question, texts: readonly string[]): AnswerValue => {
  const [first = ''] = texts;
  if (asked.several) return texts.map((text) => chosen(asked, text));
  if (asked.choices.length > 0) return chosen(asked, first);
  const said = first.trim().toLowerCase();
  if (asked.type === 'yes-no') return YES.has(said) ? true : NO.has(said) ? false : first;
  if (asked.type === 'number' || asked.type === 'integer')
    return said !== '' && Number.isFinite(Number(said)) ? Number(said) : first;
  return first;
};
