import type { InteractionView, Question } from '@orrery/protocol';
import { inert, inertLine } from '../../inert.ts';
import type { Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** Characters of what is asked that are shown in a list; a plan is shown whole. */
const SHOWN_CHARS = 2_000;

/** A value as it is given behind `--answer KEY=`. */
const shellWord = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const exampleOf = ({ type, choices }: Question): string => {
  const [first] = choices;
  if (first !== undefined) return shellWord(inertLine(first.value));
  return type === 'yes-no' ? 'yes' : type === 'text' ? "'…'" : '1';
};

/** The words behind `session answer ID` with which it is mostly answered; none: it can only be denied. */
export const answerTo = ({ ask }: Pick<InteractionView, 'ask'>): string => {
  if (ask.outcomes.includes('answered'))
    return ask.questions
      .filter(({ required }, _, all) => required || all.length === 1)
      .map((asked) => `--answer ${shellWord(inertLine(asked.key))}=${exampleOf(asked)}`)
      .join(' ');
  return ask.outcomes.includes('approved') ? 'approve' : 'deny';
};

const typeWords: Readonly<Record<Question['type'], string>> = {
  text: 'words',
  number: 'a number',
  integer: 'a whole number',
  'yes-no': 'yes or no',
};

/** What fits as an answer, in a few words. */
export const kindOfAnswer = (asked: Question): string => {
  const { type, choices, several, free, required, format, initial } = asked;
  const what =
    choices.length === 0
      ? (format ?? typeWords[type])
      : `${several ? 'any of these' : 'one of these'}${free ? ', or words of your own' : ''}`;
  return [what, required ? '' : 'may be left out', initial === null ? '' : `else ${inertLine(String(initial))}`]
    .filter((part) => part !== '')
    .join('; ');
};

/** A question with its choices, numbered from 1. */
export const questionLines = (screen: Screen, asked: Question): string[] => [
  `${inertLine(asked.key)}: ${asked.header === null ? '' : `${inertLine(asked.header)} — `}${inertLine(asked.text)}  ${screen.dim(kindOfAnswer(asked))}`,
  ...asked.choices.map(({ value, label, description }, at) => {
    const named = label === value ? inertLine(value) : `${inertLine(value)} (${inertLine(label)})`;
    return `  ${at + 1}. ${named}${description === null || description === '' ? '' : screen.dim(`  ${inertLine(description)}`)}`;
  }),
];

/** The exact thing that is asked: the command, the files, the plan, the questions. */
export const askedLines = (screen: Screen, { ask }: Pick<InteractionView, 'ask'>): string[] => {
  if (ask.questions.length > 0) return ask.questions.flatMap((asked) => questionLines(screen, asked));
  const detail = ask.kind === 'plan' ? ask.detail : ask.detail.slice(0, SHOWN_CHARS);
  return inert(ask.command ?? (ask.paths.length > 0 ? ask.paths.join('\n') : detail)).split('\n');
};

/** What the rules said of it. */
const policyText = ({ rule, text }: NonNullable<InteractionView['ask']['policy']>): string =>
  rule === null ? inertLine(text) : `the rule ${inertLine(rule)} has it asked: ${inertLine(text)}`;

/** Whether a rule could allow it. */
export const mayHaveRule = ({ ask: { kind, outcomes } }: Pick<InteractionView, 'ask'>): boolean =>
  (kind === 'command' || kind === 'edit') && outcomes.includes('approved');

/** What is asked, whole enough to decide. */
export const askText = (screen: Screen, interaction: InteractionView, nowMs: number): string => {
  const { id, ask, sessionName, createdAt, deadlineAt } = interaction;
  return [
    `${screen.careful('!')} ${inertLine(sessionName)} asks: ${inertLine(ask.title)}  ${screen.dim(agoText(createdAt, nowMs))}`,
    ...askedLines(screen, interaction).map((line) => `    ${line}`),
    `    ${screen.dim(deadlineAt === null ? 'it waits as long as it takes' : `not answered by ${deadlineAt}, it does not happen`)}`,
    ...(ask.policy === undefined ? [] : [`    ${screen.careful('!')} ${policyText(ask.policy)}`]),
    `    orrery session answer ${id} ${answerTo(interaction)}`,
    ...(mayHaveRule(interaction) ? [`    ${screen.dim(`by a rule: orrery policy propose ${id}`)}`] : []),
  ].join('\n');
};

/** `orrery session interactions`. */
export const sessionInteractions: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const session = input.argument('session') ?? undefined;
  const { items } = await client.call('interactionList', { query: session === undefined ? {} : { session } });
  const text = items.length === 0 ? 'Nothing waits for you.' : items.map((item) => askText(screen, item, world.now())).join('\n');
  return { result: { items }, text };
};
