// Asks on a terminal what an agent wants to know: one plain line for each question.

import {
  wrongAnswers,
  type Answers,
  type AnswerValue,
  type InteractionView,
  type PermissionMode,
  type Question,
} from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import type { CommandContext } from '../command.ts';
import { BY_RULE, valueOf, type Given } from './answer-value.ts';
import { askedLines, mayHaveRule, questionLines } from './interactions.ts';

/** Tries before a person is left alone. */
const TRIES = 5;

type Asking = Pick<CommandContext, 'world' | 'side' | 'note'>;

/** A line that fits, or null when the input ended or none did. */
const ask = async <T>({ world, note }: Asking, question: string, read: (line: string) => T | string): Promise<T | null> => {
  for (let tries = 0; tries < TRIES; tries++) {
    const line = await world.stdin.readLine(question);
    if (line === null) return null;
    const said = read(line.trim());
    if (typeof said !== 'string') return said;
    note(`  ${said}`);
  }
  return null;
};

type Said = { readonly value: AnswerValue | undefined };

const readAnswer = (asked: Question, line: string): Said | string => {
  const value =
    line === ''
      ? (asked.initial ?? undefined)
      : valueOf(asked, asked.several ? line.split(',').map((part) => part.trim()) : [line]);
  const [wrong] = wrongAnswers([asked], value === undefined ? {} : { [asked.key]: value });
  return wrong ?? { value };
};

const askQuestions = async (asking: Asking, { ask: { questions } }: InteractionView): Promise<Given | null> => {
  const answers: Record<string, AnswerValue> = {};
  for (const asked of questions) {
    for (const line of questionLines(asking.side, asked)) asking.note(line);
    const hint = asked.several ? 'numbers or words, with commas between them' : 'answer';
    const said = await ask(asking, `${hint}: `, (line) => readAnswer(asked, line));
    if (said === null) return null;
    if (said.value !== undefined) answers[asked.key] = said.value;
  }
  return { outcome: 'answered', answers: answers satisfies Answers };
};

const MODES: readonly Exclude<PermissionMode, 'plan'>[] = ['ask', 'edits', 'all'];

const askDecision = async (asking: Asking, { ask: what }: InteractionView): Promise<Given | typeof BY_RULE | null> => {
  const { kind, outcomes } = what;
  const can = {
    y: outcomes.includes('approved') ? ('approved' as const) : null,
    s: outcomes.includes('approved-for-session') ? ('approved-for-session' as const) : null,
    n: 'denied' as const,
    r: mayHaveRule({ ask: what }) ? BY_RULE : null,
  } as const;
  const offer = [
    can.y === null ? '' : 'y: yes',
    can.s === null ? '' : 's: yes, for this session',
    'n: no',
    can.r === null ? '' : 'r: by a rule',
  ];
  const decided = await ask(asking, `${offer.filter((part) => part !== '').join(', ')}: `, (line) => {
    const outcome = can[line.toLowerCase().slice(0, 1) as keyof typeof can] ?? null;
    return outcome === null ? 'It is one of these.' : { outcome };
  });
  if (decided === null) return null;
  const { outcome } = decided;
  if (outcome === BY_RULE) return BY_RULE;
  if (outcome === 'denied') {
    const why = (await asking.world.stdin.readLine('why (the agent is told; empty: nothing): '))?.trim() ?? '';
    return { outcome, ...(why === '' ? {} : { message: why }) };
  }
  if (kind !== 'plan') return { outcome };
  const mode = await ask(asking, `go on in the mode ${MODES.join(', ')} (empty: ask): `, (line) => {
    const found = MODES.find((one) => one === (line === '' ? 'ask' : line));
    return found === undefined ? 'It is one of these.' : { found };
  });
  return mode === null ? null : { outcome, mode: mode.found };
};

/** Shows what is asked and reads the answer; null: there was none. */
export const askPerson = async (asking: Asking, interaction: InteractionView): Promise<Given | typeof BY_RULE | null> => {
  const { ask: what, sessionName } = interaction;
  asking.note(`${asking.side.careful('!')} ${inertLine(sessionName)} asks: ${inertLine(what.title)}`);
  if (what.outcomes.includes('answered')) return askQuestions(asking, interaction);
  for (const line of askedLines(asking.side, interaction)) asking.note(`    ${line}`);
  return askDecision(asking, interaction);
};
