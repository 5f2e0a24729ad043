import type { InteractionView, Question } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { screenOf } from '../../screen.ts';
import { askPerson } from './ask-person.ts';
import { answerTo, askText } from './interactions.ts';

const screen = screenOf({ isTTY: false, columns: 80 }, {});
const question = (more: Partial<Question>): Question => ({
  ...{ key: 'q1', header: null, text: 'Well?', type: 'text', choices: [], several: false, free: false, required: true },
  ...{ min: null, max: null, format: null, initial: null },
  ...more,
});
const colours = ['Red', 'Blue'].map((value) => ({ value, label: value, description: null }));

const interaction = (ask: Partial<InteractionView['ask']>): InteractionView => ({
  ...{ id: 'int_1', sessionId: 'ses_1', sessionName: 'site', turn: 1, state: 'open', revision: 1, outcome: null, answers: null },
  ...{ by: null, deadlineAt: null, createdAt: '2026-01-01T00:00:00.000Z', settledAt: null },
  ask: {
    ...{ kind: 'question', tool: null, title: 'T', command: null, paths: [], detail: '', questions: [] },
    outcomes: ['answered', 'denied'],
    ...ask,
  },
});

/** A person who types these lines. */
const typing = async (lines: readonly string[], asked: InteractionView) => {
  const left = [...lines];
  const noted: string[] = [];
  const world = { stdin: { readLine: async () => left.shift() ?? null } };
  const given = await askPerson({ world, side: screen, note: (text: string) => noted.push(text) } as never, asked);
  return { given, noted: noted.join('\n') };
};

it('questions are asked one after another, and what does not fit is asked again', async () => {
  const questions = [
    question({ choices: colours }),
    question({ key: 'q2', choices: colours, several: true }),
    question({ key: 'age', type: 'integer', min: 1 }),
    question({ key: 'sure', type: 'yes-no' }),
    question({ key: 'size', initial: 'big' }),
    question({ key: 'note', required: false }),
  ];
  const { given, noted } = await typing(['green', '2', '1, blue', 'old', '7', 'y', '', ''], interaction({ questions }));
  const answers = { q1: 'Blue', q2: ['Red', 'Blue'], age: 7, sure: true, size: 'big' };
  expect(given).toEqual({ outcome: 'answered', answers });
  expect(noted).toContain('"q1" can be Red, Blue');
  expect(noted).toContain('"age" is a number');
});

it('a plan is approved with the mode to go on in, and a refusal takes its reason', async () => {
  const plan = interaction({ kind: 'plan', detail: `first\n${'x'.repeat(9_000)}\nlast`, outcomes: ['approved', 'denied'] });
  expect((await typing(['y', 'edits'], plan)).given).toEqual({ outcome: 'approved', mode: 'edits' });
  const denied = await typing(['s', 'n', 'not the roof'], plan);
  expect(denied.given).toEqual({ outcome: 'denied', message: 'not the roof' });
  expect(denied.noted).toContain('last');
  expect((await typing([], plan)).given).toBeNull();
});

it('what is printed can be pasted, whatever a program calls its fields', () => {
  const odd = interaction({ questions: [question({ key: "it's\u001b[2J", choices: colours })] });
  expect(answerTo(odd)).not.toContain('\u001b');
  expect(answerTo(odd)).toContain('=Red');
  expect(askText(screen, odd, 0)).not.toContain('\u001b');
  expect(answerTo(interaction({ outcomes: ['denied'] }))).toBe('deny');
});
