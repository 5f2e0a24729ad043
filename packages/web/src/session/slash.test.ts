import { describe, expect, it } from 'vitest';
import { matching, meaningOf, slashes } from './slash.ts';

const all = slashes({
  commands: [
    { name: 'review', description: 'looks at\n  a change' },
    { name: 'compact', description: 'its own' },
    { name: 'evil\u202e', description: 'turned around' },
  ],
});
const names = (text: string): string[] => matching(text, all).map(({ name }) => name);

describe('commands of the composer', () => {
  it('are ours and the program’s; one that is called like ours has two slashes, one that cannot be seen is not offered', () => {
    expect(all.filter(({ name }) => /review|compact|evil/.test(name)).map(({ name, about }) => [name, about])).toEqual([
      ['compact', 'let it sum up what was said, and keep what you name'],
      ['review', 'looks at a change'],
      ['/compact', 'its own'],
    ]);
  });

  it('are offered by how they begin, then by what they are about, until words follow', () => {
    expect(names('/re')).toEqual(['rewind', 'rename', 'review']);
    expect(names('/thinks')).toEqual(['effort']);
    expect([names('/compact '), names('a /re'), names('no')]).toEqual([[], [], []]);
    expect(names('/')).toHaveLength(all.length);
  });

  it('mean what they say', () => {
    expect(meaningOf('/compact keep the names', all)).toEqual({
      kind: 'say',
      turn: { text: 'keep the names', kind: 'prompt', action: 'compact' },
    });
    expect(meaningOf('//compact x', all)).toEqual({
      kind: 'say',
      turn: { text: 'x', kind: 'prompt', action: 'command', command: 'compact' },
    });
    expect(meaningOf('/mode plan', all)).toEqual({ kind: 'set', set: { mode: 'plan' } });
    expect(meaningOf('/rename site', all)).toEqual({ kind: 'set', set: { name: 'site' } });
    expect(meaningOf('/rewind', all)).toEqual({ kind: 'run', command: 'checkpoints' });
    expect(meaningOf('/steer leave it', all)).toEqual({ kind: 'say', turn: { text: 'leave it', kind: 'steer' } });
  });

  it('are refused when nobody has them or they say too little, and are never sent as words', () => {
    expect(meaningOf('/nonsense', all)).toEqual({
      kind: 'refused',
      why: 'There is no command /nonsense. A space before it sends it as words.',
    });
    expect(meaningOf('/mode fast', all)).toEqual({ kind: 'refused', why: '/mode ask|edits|all|plan' });
    expect(meaningOf('/model', all).kind).toBe('refused');
    expect(meaningOf(' /etc/hosts', all, 'steer')).toEqual({ kind: 'say', turn: { text: ' /etc/hosts', kind: 'steer' } });
  });
});
