import { describe, expect, it } from 'vitest';
import { momentText, rewindWords, whereText } from './moments.ts';

const moment = (kind: 'turn' | 'asked' | 'rewind', turn: number | null, conversation: 'native' | 'replaced' = 'native') => ({
  ...{ id: 'chk_1', kind, turn, conversation },
});

describe('going back', () => {
  it('says which moment a checkpoint is', () => {
    expect([moment('turn', 3), moment('asked', null), moment('rewind', null)].map(momentText)).toEqual([
      ...['before turn 3', 'asked for', 'before it was taken back'],
    ]);
  });

  it('says before what will go, and that what is there is saved first', () => {
    expect(rewindWords(moment('turn', 3), 'both')).toBe(
      'Files and conversation become what they were before turn 3. What is there now is saved first, as a checkpoint.',
    );
    expect(rewindWords(moment('asked', null, 'replaced'), 'conversation')).toBe(
      'The conversation becomes what it was then. Its program cannot go back: a new conversation is given a record of what is kept. What is there now is saved first, as a checkpoint.',
    );
    expect(rewindWords(moment('turn', 3, 'replaced'), 'files')).not.toContain('a new conversation');
  });

  it('says where a session is then', () => {
    expect(whereText(moment('turn', 3), 'both')).toBe('Files and conversation are as before turn 3.');
    expect(whereText(moment('asked', null), 'conversation')).toBe('The conversation is as at chk_1.');
  });
});
