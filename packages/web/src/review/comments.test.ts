import { describe, expect, it } from 'vitest';
import { keepComments, messageOf, readComments, withComment, type Comment } from './comments.ts';

const comment = (more: Partial<Comment>): Comment => ({
  path: 'src/a.ts',
  side: 'after',
  line: 12,
  quote: '+const one = 1;',
  text: 'Use two.',
  ...more,
});

describe('comments of a review', () => {
  it('stand once at a line; without words one is taken away', () => {
    const one = withComment([], comment({}));
    const other = withComment(one, comment({ side: 'before' }));
    expect(withComment(other, comment({ text: 'Use three.' }))).toEqual([
      comment({ side: 'before' }),
      comment({ text: 'Use three.' }),
    ]);
    expect(withComment(one, comment({ text: ' ' }))).toEqual([]);
  });

  it('become one message with file, line and quoted line, in the order of the files', () => {
    const message = messageOf(
      [comment({ path: 'z\n.ts', line: 3 }), comment({ line: 20 }), comment({ side: 'before', quote: '-old' })],
      { baseSha: 'a'.repeat(40), headSha: 'b'.repeat(40) },
    );
    expect(message.split('\n\n').slice(1)).toEqual([
      '1. src/a.ts:12 (before the change)\n> -old\nUse two.',
      '2. src/a.ts:20\n> +const one = 1;\nUse two.',
      '3. "z\\n.ts":3\n> +const one = 1;\nUse two.',
    ]);
    expect(message).toContain('from aaaaaaaaaaaa to bbbbbbbbbbbb: 3 comments');
  });

  it('are kept until they are sent; what does not read is left out', () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    keepComments(storage, 'k', [comment({})]);
    expect(readComments(storage, 'k')).toEqual([comment({})]);
    keepComments(storage, 'k', []);
    expect(readComments(storage, 'k')).toEqual([]);
    kept.set('k', '[{"path":1},null]');
    expect(readComments(storage, 'k')).toEqual([]);
    kept.set('k', '{');
    expect(readComments(storage, 'k')).toEqual([]);
  });
});
