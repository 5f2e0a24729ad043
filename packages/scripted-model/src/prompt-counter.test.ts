import { expect, it } from 'vitest';
import type { ModelCall, Turn } from './model-call.ts';
import { createPromptCounter } from './prompt-counter.ts';

const user = (text: string): Turn => ({ role: 'user', text });
const answer: Turn = { role: 'assistant', text: 'ok' };
const call = (...turns: Turn[]): ModelCall => ({
  model: 'm',
  stream: true,
  system: '',
  tools: [{ name: 't', freeform: false, properties: {} }],
  turns,
});

it('counts a prompt once however often the conversation is repeated', () => {
  const counter = createPromptCounter();
  counter.note(call(user('MARKER-a')))();
  counter.note(call(user('MARKER-a'), answer, { role: 'tool', text: 'MARKER-a in a file' }))();
  counter.note(call(user('MARKER-a'), answer, user('MARKER-b')))();
  expect(counter.counts()).toEqual({ 'MARKER-a': 1, 'MARKER-b': 1 });
});

it('counts a prompt twice when the same conversation carries it twice', () => {
  const counter = createPromptCounter();
  counter.note(call(user('MARKER-a')));
  counter.note(call(user('MARKER-a'), answer, user('MARKER-a')))();
  expect(counter.counts()).toEqual({ 'MARKER-a': 2 });
});

it('counts a second conversation that opens alike, but not the retry of a failed answer', () => {
  const counter = createPromptCounter();
  counter.note(call(user('MARKER-a'))); // the answer failed
  counter.note(call(user('MARKER-a')))();
  expect(counter.counts()).toEqual({ 'MARKER-a': 1 });
  counter.note(call(user('MARKER-a')))();
  expect(counter.counts()).toEqual({ 'MARKER-a': 2 });
});

it('keeps conversations apart and does not count side calls', () => {
  const counter = createPromptCounter();
  counter.note(call(user('MARKER-a and more')))();
  counter.note(call(user('MARKER-a')))();
  counter.note({ ...call(user('title for MARKER-a')), tools: [] })();
  expect(counter.counts()).toEqual({ 'MARKER-a': 2 });
});

it('takes another pattern, and forgets', () => {
  const counter = createPromptCounter('@[a-z]+@');
  counter.note(call(user('@one@ MARKER-a')))();
  expect(counter.counts()).toEqual({ '@one@': 1 });
  counter.forget();
  expect(counter.counts()).toEqual({});
});
