import { describe, expect, it } from 'vitest';
import { aSession } from '../test/chat-facts.ts';
import { partedText, recordText } from './moments.ts';

describe('a fork is told to people', () => {
  it('with the memory of its program, or with a record: before it is made, and afterwards', () => {
    expect(recordText(aSession({ harness: 'claude', forks: 'native' }))).toBe(null);
    expect(recordText(aSession({ harness: 'gemini', forks: 'record' }))).toBe(
      'gemini cannot go on from a place in a conversation: the fork begins a new one with a record of what was said.',
    );
    expect(partedText({ session: 'ses_1', turn: 3, replaced: false })).toBe('forked from ses_1 before turn 3');
    expect(partedText({ session: 'ses_1', turn: null, replaced: true })).toBe(
      'forked from ses_1, with a record of what was said',
    );
  });
});
