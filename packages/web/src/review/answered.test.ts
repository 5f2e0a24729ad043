import type { TranscriptRow } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { answersIn, lineOf, reviewIn, reviewsIn } from './answered.ts';
import { messageOf, type Comment } from './comments.ts';
import { linesOf } from './lines.ts';

const range = { baseSha: 'a'.repeat(40), headSha: 'b'.repeat(40) };
const comments: readonly Comment[] = [
  { path: 'a b.ts', side: 'before', line: 3, quote: '-old', text: 'Why?' },
  { path: 'src/a.ts', side: 'after', line: 20, quote: '+const one = 1;', text: 'Use two.\n\n2. and.ts:7\nnot a comment' },
  { path: 'z\n".ts', side: 'after', line: 1, quote: '+', text: 'Empty.' },
];

describe('a review that was sent', () => {
  it('is read back from its message as it was written, whatever is in its words', () => {
    const review = reviewIn(messageOf(comments, range, 'All in all: good.\n\n1. first'), '');
    expect(review?.comments).toEqual(comments.map((one, at) => ({ ...one, number: at + 1, answer: null })));
  });

  it('is none where the message is another one', () => {
    for (const message of ['', 'Review it.', 'Review of the change from a to b: 1 comment. \n\nnothing', '1. a.ts:1\n> +x\ny'])
      expect(reviewIn(message, '1. Done.')).toBe(null);
  });

  it('has what the agent said of each comment, however it numbers', () => {
    for (const words of [
      '1. Done.\n2. Left.',
      '**1.** Done.\n\n**2.** Left.',
      '## 1) Done.\n- 2: Left.',
      'Comment 1: Done.\ncomment #2: Left.',
    ])
      expect([...answersIn(words, 2)]).toEqual([
        [1, 'Done.'],
        [2, 'Left.'],
      ]);
  });

  it('takes what was said last, with what is set in below it, and nothing from code or of numbers that are none of it', () => {
    const words =
      'I will do:\n1. look\n2. mend\n\n1. Done:\n   ```\n2. code\n   ```\n\n   more\n\nAll tests pass.\n3. three\n2024. year';
    expect([...answersIn(words, 2)]).toEqual([
      [1, 'Done:\n   ```\n2. code\n   ```\n\n   more'],
      [2, 'mend'],
    ]);
  });

  it('is found in a transcript with the words that came after it, up to the next input', () => {
    const row = (firstSequence: number, body: object) => ({ firstSequence, event: { body } }) as unknown as TranscriptRow;
    const message = messageOf(comments.slice(0, 1), range);
    const rows = [
      row(1, { kind: 'text', text: '1. before anything' }),
      row(2, { kind: 'user', text: message }),
      row(3, { kind: 'tool.call', text: '1. no' }),
      row(4, { kind: 'text', text: '1. Because.' }),
      row(5, { kind: 'user', text: 'thanks' }),
      row(6, { kind: 'text', text: '1. you are welcome' }),
      row(7, { kind: 'user', text: message }),
    ];
    expect(reviewsIn(rows).map(({ sequence, comments: [first] }) => [sequence, first?.answer])).toEqual([
      [7, null],
      [2, 'Because.'],
    ]);
  });

  it('stands at the line it was about, wherever that went; at none when it is gone', () => {
    const lines = linesOf({ oldStart: 1, newStart: 1, lines: ['+}', ' same', '+}', '-old', '\\ No newline at end of file'] });
    expect(lineOf({ side: 'after', line: 9, quote: '+}' }, lines)).toBe(lines[2]);
    expect(lineOf({ side: 'after', line: 1, quote: '+}' }, lines)).toBe(lines[0]);
    expect(lineOf({ side: 'before', line: 5, quote: '-old' }, lines)).toBe(lines[3]);
    expect(lineOf({ side: 'after', line: 2, quote: ' sa…' }, lines)).toBe(lines[1]);
    expect(lineOf({ side: 'after', line: 2, quote: '+gone' }, lines)).toBe(null);
  });
});
