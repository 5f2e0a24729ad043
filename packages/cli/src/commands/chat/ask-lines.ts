// A question as a person sees it: the exact thing, the keys, and until when. Pure.

import type { ChatState, ShownRule } from './state.ts';
import type { InteractionAsk, InteractionView, Question } from '@orrery/protocol';
import { agoText } from '../../wording.ts';
import { kindOfAnswer } from '../session/interactions.ts';
import { cutCells, visible, wrapCells } from './cells.ts';
import { diffLine, diffLines, diffOf, looksLikeDiff } from './diff-lines.ts';
import type { Look } from './look.ts';

/** Lines of what is asked that stand beside the composer; more of it is in the scrollback. */
const BESIDE_LINES = 8;
const LONG_CHARS = 480;

/** The exact thing that is asked about. */
export const exactOf = (ask: InteractionAsk): string =>
  ask.command ?? (ask.questions.length > 0 ? '' : ask.detail === '' ? ask.paths.join('\n') : ask.detail);

/** Whether it does not fit beside the composer. */
export const isLong = (ask: InteractionAsk): boolean => {
  const text = exactOf(ask);
  return text.length > LONG_CHARS || text.split('\n').length > BESIDE_LINES || (diffOf(text)?.lines.length ?? 0) > BESIDE_LINES;
};

/** All of it. */
export const exactLines = (ask: InteractionAsk, look: Look): string[] => {
  const text = exactOf(ask);
  const change = ask.command === null ? diffOf(text) : null;
  const paths = ask.paths.filter((path) => !text.includes(path)).map((path) => `    ${visible(path)}`);
  if (change !== null)
    return [
      ...(change.path === null ? paths : [`    ${visible(change.path)}`]),
      ...(looksLikeDiff(text) ? change.lines.map((line) => diffLine(line, look)) : diffLines(change, { ...look, most: 5_000 })),
    ];
  const mark = ask.kind === 'command' ? '$ ' : '';
  return [
    ...wrapCells(visible(text).trimEnd(), Math.max(8, look.columns - 6)).map(
      (line, place) => `    ${place === 0 ? mark : ' '.repeat(mark.length)}${line}`,
    ),
    ...(text === '' || ask.kind === 'edit' ? paths : []),
  ];
};

const TITLES: Readonly<Record<InteractionAsk['kind'], string>> = {
  command: 'asks to run a command',
  edit: 'asks to change files',
  tool: 'asks to use a tool',
  question: 'asks',
  form: 'needs something for a tool',
  plan: 'asks you to approve its plan',
};

const titleOf = ({ kind, title, tool }: InteractionAsk): string => {
  const said = visible(title).replace(/\s+/g, ' ').trim();
  if (kind === 'question' || kind === 'form') return `${TITLES[kind]}: ${said}`;
  return kind === 'tool' ? `${TITLES.tool}: ${visible(tool ?? said)}` : TITLES[kind];
};

const KEYS = [
  ['approved', 'y yes, once'],
  ['approved-for-session', 's yes, for this session'],
  ['denied', 'n no'],
] as const;

/** Whether a rule could allow it. */
export const hasRule = ({ kind, outcomes }: InteractionAsk): boolean =>
  (kind === 'command' || kind === 'edit') && outcomes.includes('approved');

/** The rule that was shown of this very question; null: none was. */
export const ruleOf = ({ rule }: Pick<ChatState, 'rule'>, { id, revision }: InteractionView): ShownRule | null =>
  rule !== null && rule.interaction === id && rule.revision === revision ? rule : null;

/** What answers it. */
const keysText = (ask: InteractionAsk, asked: Question | null, ruled: boolean): string => {
  const choices = asked?.choices ?? [];
  const keys: string[] = KEYS.filter(([outcome]) => ask.outcomes.includes(outcome)).map(([, text]) => text);
  if (ask.outcomes.includes('answered'))
    keys.unshift(
      choices.length === 0 ? 'write the answer, Enter' : '↑↓ or a number, Enter',
      ...(choices.length === 0 ? [] : [asked?.several === true ? 'w several, with commas' : 'w in your words']),
    );
  return [...keys, ...(hasRule(ask) ? [ruled ? 'A add the rule' : 'r rule'] : []), 'Tab write', 'Esc stop'].join(' · ');
};

/** Which one of several it is, in its own words; one alone stands in the title. */
const questionLines = (asked: Question, { questions, title }: InteractionAsk, columns: number): string[] => {
  const text = visible(asked.text).replace(/\s+/g, ' ').trim();
  if (questions.length === 1 && asked.text === title) return [];
  const place = questions.length === 1 ? '' : `${questions.indexOf(asked) + 1} of ${questions.length}: `;
  return wrapCells(`${place}${text} (${kindOfAnswer(asked)})`, columns - 6).map((line) => `    ${line}`);
};

const deadlineText = (deadlineAt: string | null, nowMs: number): string =>
  deadlineAt === null ? 'it waits as long as it takes' : `not answered ${agoText(deadlineAt, nowMs)}, it does not happen`;

export type AskShown = {
  readonly view: InteractionView;
  readonly armed: boolean;
  readonly focused: boolean;
  readonly choice: number;
  /** Words for it are being written. */
  readonly writing: 'deny' | 'answer' | null;
  /** The question that is answered next. */
  readonly question: Question | null;
  readonly others: number;
  /** The rule for it stands above. */
  readonly ruled: boolean;
  readonly nowMs: number;
};

/** The panel of a question. */
export const askLines = (shown: AskShown, look: Look): string[] => {
  const { view, armed, focused, choice, writing, question, others, nowMs } = shown;
  const { ask, deadlineAt } = view;
  const { screen, columns } = look;
  const exact = isLong(ask) ? [...exactLines(ask, look).slice(0, 3), screen.dim('    … whole above')] : exactLines(ask, look);
  const more = others === 0 ? '' : ` (${others} more wait)`;
  const keys =
    writing !== null
      ? `Enter ${writing === 'deny' ? 'says no' : 'answers'} · Esc back`
      : !focused
        ? 'Tab: answer it'
        : armed
          ? keysText(ask, question, shown.ruled)
          : 'a moment: keys answer when you stop typing';
  return [
    `${screen.careful('!')} ${screen.bold(cutCells(`The agent ${titleOf(ask)}${more}`, columns - 2))}`,
    ...exact,
    ...(question === null ? [] : questionLines(question, ask, columns)),
    ...(question?.choices ?? []).map(({ label, description }, place) => {
      const words = description === null || description === '' ? label : `${label} — ${description}`;
      const text = cutCells(`${place + 1}. ${visible(words).replace(/\s+/g, ' ')}`, columns - 6);
      return place === choice && focused ? `  ${screen.bold(`› ${text}`)}` : `    ${text}`;
    }),
    ...wrapCells(keys, columns - 4).map((line) => `    ${armed || !focused ? line : screen.dim(line)}`),
    screen.dim(`    ${cutCells(deadlineText(deadlineAt, nowMs), columns - 4)}`),
  ];
};
