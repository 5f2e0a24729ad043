import { describe, expect, it } from 'vitest';
import { beginsWith as begins, plainWords } from './plain-words.ts';

const beginsWith = (command: string, words: readonly string[]) => begins(command, words, { anyShell: false });
const mayBeginWith = (command: string, words: readonly string[]) => begins(command, words, { anyShell: true });

describe('the words of a command', () => {
  it('are those of one program and its arguments', () => {
    expect(plainWords('npm test')).toEqual(['npm', 'test']);
    expect(plainWords("  git commit -m 'one; two && three' ")).toEqual(['git', 'commit', '-m', 'one; two && three']);
    expect(plainWords('grep "a b"c d\'\'')).toEqual(['grep', 'a bc', 'd']);
    expect(plainWords('echo ""')).toEqual(['echo', '']);
    expect(plainWords('cat naïve.txt')).toEqual(['cat', 'naïve.txt']);
  });

  const hostile = [
    ...['npm test; rm -rf .', 'npm test && id', 'npm test || id', 'npm test | sh', 'npm test & id', 'npm test |& id'],
    ...[
      'npm test $(id)',
      'npm test `id`',
      'npm test "$(id)"',
      'npm test "`id`"',
      'npm test $HOME',
      'npm test "${X}"',
      "npm test $'a'",
    ],
    ...['npm test > out', 'npm test >> out', 'npm test < in', 'npm test <<< x', 'npm test 2>&1', 'npm test <(id)'],
    ...['npm test\nid', 'npm test\r\nid', 'npm test \\\nid', 'npm\ttest', 'npm test "a\nb"', "npm test 'a\nb'"],
    ...['(npm test)', '{ npm test; }', '! npm test', 'npm test *', 'npm test ?', 'npm test [a]', 'npm test {a,b}', 'npm test ~'],
    ...['npm test #x', 'npm test \\; id', 'npm test "a\\"b"', 'npm test "a!b"', 'npm test "open', "npm test 'open"],
    ...['PATH=. npm test', 'X+=1 npm test', 'if npm test', 'eval npm test', 'exec npm test', '. npm test', 'source npm test'],
    ...[
      'npm test \u202e',
      'npm\u00a0test',
      'npm test \u2028id',
      'npm test "\u200b"',
      'npm test \u0000',
      'npm test ；id',
      '',
      '   ',
      '""',
    ],
  ];
  it.each(hostile)('are not told where there may be more than that: %j', (command) => {
    expect(plainWords(command)).toBeNull();
  });

  it('begin with other words only whole', () => {
    expect(beginsWith('npm run test -- --watch', ['npm', 'run'])).toBe(true);
    expect(beginsWith('npm run', ['npm', 'run'])).toBe(true);
    expect(beginsWith('npm running', ['npm', 'run'])).toBe(false);
    expect(beginsWith('npm', ['npm', 'run'])).toBe(false);
    expect(beginsWith('xnpm run', ['npm', 'run'])).toBe(false);
    expect(beginsWith('npm run; id', ['npm', 'run'])).toBeNull();
  });

  it('are also those that a shell is given, for some programs run each command in one', () => {
    for (const shell of [
      "/bin/bash -lc 'npm run x'",
      "sh -c 'npm run'",
      '/usr/bin/zsh -lc "npm run"',
      `bash -c "sh -c 'npm run'"`,
    ])
      expect([shell, beginsWith(shell, ['npm', 'run'])]).toEqual([shell, true]);
    for (const more of [
      "/bin/bash -lc 'npm run; id'",
      "sh -c 'npm run $X'",
      "sh -ec 'npm run'",
      "sh -x -c 'npm run'",
      "sh -c 'npm run' x",
    ])
      expect([more, beginsWith(more, ['npm', 'run'])]).toEqual([more, null]);
    for (const other of ["/bin/bash -lc 'npm test'", 'sh script', "/tmp/bash -c 'npm run'", "fish -c 'npm run'"])
      expect([other, beginsWith(other, ['npm', 'run'])]).toEqual([other, false]);
    expect(beginsWith("/bin/bash -lc 'npm run'", ['/bin/bash', '-lc'])).toBe(true);
  });

  it('are looked for in any shell where that narrows, wherever it lies', () => {
    for (const shell of ['sh', 'bash', 'dash', 'zsh', 'ash', 'ksh', 'fish'])
      for (const folder of ['', '/bin/', '/bin//', '/opt/homebrew/bin/', './'])
        expect([folder, shell, mayBeginWith(`${folder}${shell} -c 'npm run'`, ['npm', 'run'])]).toEqual([folder, shell, true]);
    for (const unsure of [
      "bash --login -c 'npm run'",
      "bash -O extglob -c 'npm run'",
      "fish --command='npm run'",
      "ksh +c 'npm run'",
    ])
      expect([unsure, mayBeginWith(unsure, ['npm', 'run'])]).toEqual([unsure, null]);
    for (const other of ["/opt/bash -c 'npm test'", "/opt/xbash -c 'npm run'", 'fish script'])
      expect([other, mayBeginWith(other, ['npm', 'run'])]).toEqual([other, false]);
  });

  const unseen = [
    '\u3164',
    '\u115f',
    '\u2800',
    '\u034f',
    '\ufe0f',
    '\u{e0101}',
    '\u00a0',
    '\u2003',
    '\u3000',
    '\u00ad',
    '\ue000',
  ];
  it.each(unseen)('are not told where nobody sees one of their letters: %j', (letter) => {
    for (const command of [`npm test ${letter}`, `npm${letter}test`, `npm test "${letter}"`, `npm test 'a${letter}'`])
      expect([command, plainWords(command)]).toEqual([command, null]);
  });
});
