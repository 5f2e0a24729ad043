import { describe, expect, it } from 'vitest';
import { isGitFileName } from './hostile-files.ts';

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('a name that Git reads', () => {
  it.each([
    '.gitmodules',
    'deep/er/.gitattributes',
    '.GitModules',
    'GITMOD~1',
    'gi7eba~1',
    '.git\u200cmodules',
    '.gitignore',
    '.github',
  ])('may be %s', (name) => {
    expect(isGitFileName(latin1(name))).toBe(true);
  });

  it.each(['modules', 'git.txt', 'x.gitmodules', 'gitmodules', 'src/digit.ts'])('is not %s', (name) => {
    expect(isGitFileName(latin1(name))).toBe(false);
  });
});
