import { describe, expect, it } from 'vitest';
import { parsePolicyFile } from '../config/policy-schema.ts';
import type { Asked } from './model.ts';
import { matchOf, ruleFor, withRule, yamlOf } from './rule-text.ts';

const asked = (ask: Partial<Asked['ask']>): Asked => ({
  project: { id: 'prj_1', name: 'shop' },
  harness: 'claude',
  workdir: '/place',
  ask: { kind: 'command', tool: 'Bash', command: null, paths: [], ...ask },
});

const ruleOf = (question: Asked) => {
  const match = matchOf(question);
  if (typeof match === 'string') throw new Error(match);
  return ruleFor(question, { match, reason: 'Asked in the session talk' });
};
const add = (text: string, command = 'npm test'): string =>
  withRule(text, { rule: ruleOf(asked({ command })), projectName: 'shop', path: '/own/a.yaml' });

describe('the rule that would allow what is asked', () => {
  it('is for this command, project and harness', () => {
    expect(yamlOf(ruleOf(asked({ command: 'npm test && echo "a: b" # c' })), 'shop')).toBe(`- name: npm-test-echo-a-b-c-315e1f18
  action: approval
  match:
    project: prj_1 # shop
    harness: claude
    command:
      exact: 'npm test && echo "a: b" # c'
  verdict: allow
  reason: Asked in the session talk
`);
  });

  it.each([
    'ls',
    'a\nb\n',
    'a\n\n',
    ' a ',
    '- x',
    '"',
    "it's",
    'a: b',
    '#',
    '*x',
    '&x',
    '!x',
    '{a',
    'null',
    '1',
    '\ta',
    'é',
    'x'.repeat(5_000),
    'a\n  b\n c',
  ])('reads back to the letter: %j', (command) => {
    const [rule] = parsePolicyFile(`rules:\n${yamlOf(ruleOf(asked({ command })), 'shop')}`, 'x');
    expect(rule?.match.command?.exact).toBe(command);
  });

  it('names the files of a change from the root of the checkout', () => {
    expect(ruleOf(asked({ kind: 'edit', paths: ['/place/docs/a.md', 'b.md'] })).match).toEqual({
      ...{ project: 'prj_1', harness: 'claude' },
      paths: { exact: ['docs/a.md', 'b.md'] },
    });
  });

  it.each([
    asked({ command: 'ls \u202eid' }),
    asked({ command: 'ls \u001b[2K' }),
    ...['\u3164', '\u2800', '\u115f', '\ufe0f', '\u034f', '\u00a0', '\r'].map((letter) => asked({ command: `ls ${letter}x` })),
    ...['.GIT/hooks/x', '.orrery/policies/x.yaml', 'AGENTS.md', '.agents/x', '.husky/x', '.envrc', 'a\nb', 'a\u3164'].map(
      (path) => asked({ kind: 'edit', paths: [path] }),
    ),
    asked({ kind: 'edit', paths: ['/etc/passwd'] }),
    asked({ kind: 'edit', paths: ['a.md', '/place/.claude/settings.json'] }),
    asked({ kind: 'edit', paths: [] }),
    asked({ kind: 'tool' }),
    asked({ kind: 'plan' }),
  ])('is none, with the reason, for %j', (question) => {
    expect(matchOf(question)).toBeTypeOf('string');
  });
});

describe('a file that takes a rule', () => {
  it('keeps what people wrote, with its comments', () => {
    const text = `# Our rules.

rules:
  # Pushes go through review.
  - name: no-push   # ask Ann
    action: approval
    match: { command: { words: [git, push] } }
    verdict: deny
    reason: 'Pushes go through review, and this line is longer than eighty characters, for that matters to some writers.'

  # The last word.
`;
    const after = add(text);
    const [head, tail] = text.split('\n\n  # The last word.');
    expect(after.startsWith(`${head}\n  - name: npm-test-`)).toBe(true);
    expect(after.endsWith(`\n\n  # The last word.${tail}`)).toBe(true);
    expect(parsePolicyFile(after, 'x').map(({ name }) => name)).toEqual(['no-push', expect.stringMatching(/^npm-test-/)]);
  });

  it.each(['', '# only words\n', '{}', 'rules: []\n', '{ "rules": [] }', '---\nrules: []\n'])(
    'may hold none before: %j',
    (text) => {
      const after = add(text);
      expect(parsePolicyFile(after, 'x').length).toBe(1);
      if (text.startsWith('#')) expect(after).toContain('# only words');
      expect(parsePolicyFile(add(after, 'ls'), 'x').length).toBe(2);
    },
  );

  it.each(['rules: [', 'rule: []', 'rules: 1', '[]'])('is left alone when it is no policy: %j', (text) => {
    expect(() => add(text)).toThrow();
  });
});
