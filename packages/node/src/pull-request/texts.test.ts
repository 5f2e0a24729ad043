import { describe, expect, it } from 'vitest';
import { asBlock, bodyOfTask, titleOf } from './texts.ts';

const usage = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };
const result = {
  ...{ summary: 'Closes #1, thanks @ann\n```\n![x](https://evil.test/x.png)', output: null, goal: null, baseSha: null },
  ...{ headSha: null, resultRef: null, filesChanged: 1, insertions: 1, deletions: 0, commits: 1, salvageRef: null, usage },
  validation: { passed: false, exitCode: 4, timedOut: false, limit: null, output: '', outputBytes: 0 },
};

describe('what a pull request says when nobody says it', () => {
  it('has the first words of a prompt as its title: one line, seen whole, of a bounded length', () => {
    expect(titleOf('\n  Fix the \u202etest\u0007\nand more', 'else')).toBe('Fix the test');
    expect(titleOf(' \n\t\n', 'else')).toBe('else');
    const long = titleOf('word '.repeat(100), 'else');
    expect([[...long].length <= 72, long.endsWith('…')]).toEqual([true, true]);
    expect(titleOf('😀'.repeat(100), 'else')).toBe(`${'😀'.repeat(71)}…`);
  });

  it('has the agent’s words in a block that nothing in them ends', () => {
    expect(asBlock('a ``` b ````` c')).toBe('``````text\na ``` b ````` c\n``````');
    const body = bodyOfTask({ id: 'tsk_1', verdict: 'rejected', result });
    expect(body).toBe(
      [
        '````text\nCloses #1, thanks @ann\n```\n![x](https://evil.test/x.png)\n````',
        'Validation by the project’s own script: **not passed** (exit 4).',
        'Made by an agent: task `tsk_1`, rejected.',
      ].join('\n\n'),
    );
  });

  it('says that there is no validation, and nothing of what there is not', () => {
    const bare = { ...result, summary: null, validation: null };
    expect(bodyOfTask({ id: 'tsk_1', verdict: 'accepted', result: bare })).toBe(
      'The project has no validation script.\n\nMade by an agent: task `tsk_1`, accepted.',
    );
  });
});
