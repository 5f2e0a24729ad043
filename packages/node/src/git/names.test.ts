import { describe, expect, it } from 'vitest';
import { branchRef, isRefName, isSha, refPart } from './names.ts';

describe('names', () => {
  it('takes branches as Git does', () => {
    expect(['main', 'team/feature/one', 'ünï', 'a.b', 'x@y'].map(branchRef)).toEqual([
      'refs/heads/main',
      'refs/heads/team/feature/one',
      'refs/heads/ünï',
      'refs/heads/a.b',
      'refs/heads/x@y',
    ]);
  });

  it.each([
    '',
    '-x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a/b.lock',
    'a.',
    '@{',
    '@',
    'HEAD',
    'a\nb',
    'a\u0000b',
  ])('refuses the branch %j', (branch) => {
    expect(() => branchRef(branch)).toThrow('is not a branch name');
  });

  it('takes only whole object names and refs below refs/', () => {
    expect([
      isSha('a'.repeat(40)),
      isSha('A'.repeat(40)),
      isSha('a'.repeat(39)),
      isRefName('refs/heads/x'),
      isRefName('HEAD'),
      isRefName('refs/../x'),
    ]).toEqual([true, false, false, true, false, false]);
  });

  it('makes any text a piece of a ref', () => {
    expect(['tsk_01', 'a/../b', ''].map(refPart)).toEqual(['tsk_01', 'a----b', '-']);
  });
});
