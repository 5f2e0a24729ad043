import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createGreeter, ENTRY, openingLine } from './entry.ts';

describe('what the login shell is given', () => {
  it('has no character that shells disagree about', () => {
    // Inside single quotes: no quote, no backslash, no exclamation mark, no line break.
    expect(ENTRY).toMatch(/^exec \/bin\/sh -c '[^'\\!\n]+'$/);
  });

  it('runs the line it reads, with the rest of stdin, in an environment of what was said alone', () => {
    const line = openingLine({
      argv: ['sh', '-c', 'cat; env'],
      variables: { PATH: '/usr/bin:/bin', WORD: "it's\nthis" },
      mark: 'm4rk',
    });
    const { stdout, status } = spawnSync('sh', ['-c', ENTRY], {
      input: `${line}the rest\n`,
      encoding: 'utf8',
      env: { SECRET: 'x' },
    });
    const [before, after = ''] = stdout.split('\nm4rk\n');
    expect([before, status, line.trimEnd().includes('\n')]).toEqual(['', 0, false]);
    expect(after).toMatch(/^the rest\n/);
    expect(after).toContain("WORD=it's\nthis\n");
    expect(after).not.toContain('SECRET');
  });

  it('does nothing with half a line', () => {
    const line = openingLine({ argv: ['echo', 'ran'], variables: {}, mark: 'm4rk' }).slice(0, -1);
    expect(spawnSync('sh', ['-c', ENTRY], { input: line, encoding: 'utf8' }).stdout).toBe('');
  });

  it('a word with a NUL byte is refused', () => {
    expect(() => openingLine({ argv: ['a\0b'], variables: {}, mark: 'm' })).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });
});

describe('a greeter', () => {
  const push = (pieces: readonly string[], limit = 100) => {
    const greeter = createGreeter('m4rk', limit);
    const got = pieces.map((piece) => greeter.push(Buffer.from(piece))?.toString() ?? null);
    return { got, said: greeter.said() };
  };

  it('passes on what comes after the mark, and nothing before it, however it is cut', () => {
    const text = 'welcome\n\nm4rk\nout\nm4rk\nput';
    for (let size = 1; size <= text.length; size += 1) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      const { got, said } = push(pieces);
      expect([got.join(''), said]).toEqual(['out\nm4rk\nput', 'welcome']);
    }
  });

  it('a mark in a longer line is none', () => {
    expect(push(['xm4rk\n', 'm4rk and more\n'])).toEqual({ got: [null, null], said: 'xm4rk\nm4rk and more' });
  });

  it('refuses start-up files that print without end', () => {
    expect(() => push(['y'.repeat(200)])).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});
