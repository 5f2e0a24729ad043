import { describe, expect, it } from 'vitest';
import { answersGiven, wrongAnswers, type AnswerValue, type Question } from './question.ts';

const plain: Question = {
  ...{ key: 'a', header: null, text: 'A?', type: 'text', choices: [], several: false, free: false, required: true },
  ...{ min: null, max: null, format: null, initial: null },
};
const choices = ['red', 'blue'].map((value) => ({ value, label: value.toUpperCase(), description: null }));

describe('an answer', () => {
  it.each<readonly [string, Partial<Question>, AnswerValue, boolean]>([
    ['a text', {}, 'words', true],
    ['a number where words are asked', {}, 7, false],
    ['too short', { min: 3 }, 'ab', false],
    ['a date', { format: 'date' }, '2026-12-24', true],
    ['no date', { format: 'date' }, 'tomorrow', false],
    ['an address', { format: 'email' }, 'ann@example.com', true],
    ['no address', { format: 'email' }, 'ann', false],
    ['a page', { format: 'uri' }, 'https://example.com/x', true],
    ['one of the choices', { choices }, 'red', true],
    ['none of the choices', { choices }, 'green', false],
    ['words of its own', { choices, free: true }, 'green', true],
    ['the label of a choice', { choices }, 'RED', false],
    ['several', { choices, several: true }, ['red', 'blue'], true],
    ['one for several', { choices, several: true }, 'red', false],
    ['the same twice', { choices, several: true }, ['red', 'red'], false],
    ['too many', { choices, several: true, max: 1 }, ['red', 'blue'], false],
    ['a whole number', { type: 'integer', min: 1, max: 9 }, 3, true],
    ['a broken number', { type: 'integer' }, 1.5, false],
    ['a number beyond', { type: 'number', max: 1 }, 1.5, false],
    ['no number', { type: 'number' }, Number.NaN, false],
    ['a no', { type: 'yes-no' }, false, true],
    ['a word for yes', { type: 'yes-no' }, 'yes', false],
  ])('%s', (_, asked, value, fits) => {
    expect(wrongAnswers([{ ...plain, ...asked }], { a: value }).length === 0).toBe(fits);
  });

  it('is needed where it is required, and empty ones are none', () => {
    const optional = { ...plain, key: 'b', required: false };
    expect(wrongAnswers([plain, optional], { b: '' })).toEqual(['"a" has no answer']);
    expect(answersGiven([plain, optional], { a: 'x', b: ' ' })).toEqual({ a: 'x' });
  });

  it('under a key that is not asked is refused, also one that every object has', () => {
    expect(wrongAnswers([{ ...plain, required: false }], { z: 'x' })).toEqual(['"z" is not asked']);
    expect(wrongAnswers([{ ...plain, key: 'constructor' }], {})).toEqual(['"constructor" has no answer']);
  });
});
