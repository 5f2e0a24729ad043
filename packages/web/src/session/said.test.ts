import { describe, expect, it } from 'vitest';
import { bookkeeping } from './said.ts';

const gone = { kind: 'rewound', after: 4, checkpointId: 'chk_1', beforeId: 'chk_2', turn: 3, replaced: false } as const;

describe('rows that are no words of anybody', () => {
  it('say what was summed up', () => {
    expect(bookkeeping({ kind: 'compacted', trigger: 'auto', beforeTokens: 120_000, afterTokens: 8_000 })).toBe(
      'What was said so far was summed up by itself (120k → 8.0k tokens).',
    );
    expect(bookkeeping({ kind: 'compacted', trigger: 'manual', beforeTokens: null, afterTokens: null })).toBe(
      'What was said so far was summed up.',
    );
  });

  it('say what went back to where, and what was saved', () => {
    expect(bookkeeping({ ...gone, files: true, conversation: true, saved: [] })).toBe(
      '! Files and conversation went back to before turn 3.',
    );
    expect(
      bookkeeping({ ...gone, turn: null, files: false, conversation: true, replaced: true, saved: ['refs/orrery/salvage/1'] }),
    ).toBe(
      '! The conversation went back to chk_1. A new conversation was given a record of what is kept. What nothing else had is saved as refs/orrery/salvage/1.',
    );
  });
});
