import { expect, it } from 'vitest';
import { formAnswer, formAsk, formQuestions } from './forms.ts';

const schema = {
  type: 'object',
  required: ['name', 'colours'],
  properties: {
    name: { type: 'string', title: 'Name', description: 'Who are you?', minLength: 2, format: 'uuid' },
    colours: { type: 'array', items: { anyOf: [{ const: 'r', title: 'Red' }] }, minItems: 1 },
    size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'], default: 's' },
    age: { type: 'integer', minimum: 0 },
    sure: { type: 'boolean', default: false },
  },
};

it('a form becomes questions, each with its own kind, in the order that was told', () => {
  const questions = formQuestions(schema, ['sure', 'name']) ?? [];
  const nothing = { choices: [], several: false, free: false, min: null, max: null, format: null, initial: null };
  expect(questions).toEqual([
    { ...nothing, key: 'sure', header: null, text: 'sure', type: 'yes-no', required: false, initial: false },
    { ...nothing, key: 'name', header: 'Name', text: 'Who are you?', type: 'text', required: true, min: 2 },
    {
      ...{ ...nothing, key: 'colours', header: null, text: 'colours', type: 'text', required: true, several: true, min: 1 },
      choices: [{ value: 'r', label: 'Red', description: null }],
    },
    {
      ...{ ...nothing, key: 'size', header: null, text: 'size', type: 'text', required: false, initial: 's' },
      choices: [
        { value: 's', label: 'Small', description: null },
        { value: 'l', label: 'Large', description: null },
      ],
    },
    { ...nothing, key: 'age', header: null, text: 'age', type: 'integer', required: false, min: 0 },
  ]);
});

it('a form that nobody could be shown can only be denied, and one without fields is agreed to', () => {
  const of = (asked: unknown, url: string | null = null) => formAsk({ server: 'shop', message: 'Well?', url, schema: asked });
  expect(of({ properties: { deep: { type: 'object' } } })).toMatchObject({ kind: 'form', questions: [], outcomes: ['denied'] });
  expect(of('nonsense').outcomes).toEqual(['denied']);
  expect(of({ properties: {} }).outcomes).toEqual(['approved', 'denied']);
  expect(of(undefined, 'https://example.com')).toMatchObject({ detail: 'https://example.com', outcomes: ['approved', 'denied'] });
  expect(of(schema).outcomes).toEqual(['answered', 'denied']);
});

it('a refusal, nobody and an answer are three things to whoever asked', () => {
  expect(formAnswer('answered', { age: 3 })).toEqual({ action: 'accept', content: { age: 3 } });
  expect(formAnswer('denied', null)).toEqual({ action: 'decline' });
  expect(formAnswer('timed-out', null)).toEqual({ action: 'cancel' });
});
