import type { InteractionAsk } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { decide, readPolicy, type Asked, type PolicyFile } from './model.ts';

const operator = (text: string, path = '/own/a.yaml'): PolicyFile => readPolicy({ origin: 'operator', path }, text);
const ofProject = (text: string): PolicyFile => readPolicy({ origin: 'project', path: '.orrery/policies/p.yaml' }, text);

const rule = (name: string, verdict: string, match: string): string =>
  `  - { name: ${name}, action: approval, verdict: ${verdict}, reason: so, match: ${match} }\n`;
const rules = (...some: string[]): string => `rules:\n${some.join('')}`;

const asked = (ask: Partial<InteractionAsk>, more: Partial<Asked> = {}): Asked => ({
  project: { id: 'prj_1', name: 'shop' },
  harness: 'claude',
  workdir: '/place',
  ask: { kind: 'command', tool: 'Bash', command: null, paths: [], ...ask },
  ...more,
});
const command = (text: string, more: Partial<Asked> = {}): Asked => asked({ command: text }, more);
const edit = (...paths: string[]): Asked => asked({ kind: 'edit', tool: 'Edit', paths });
const said = (files: readonly PolicyFile[], question: Asked): string | null => {
  const found = decide(files, question);
  return found === null ? null : `${found.verdict} by ${found.rule ?? 'nothing'}`;
};

describe('rules', () => {
  const test = rule('tests', 'allow', '{ command: { words: [npm, test] } }');
  const exact = rule('both', 'allow', "{ command: { exact: 'npm test && npm run lint' } }");
  const push = rule('no-push', 'deny', '{ command: { words: [git, push] } }');

  it('allow what begins with their words, and never a command that is more than words', () => {
    const files = [operator(rules(test))];
    expect(files[0]!.problem).toBeNull();
    expect(said(files, command('npm test -- a'))).toBe('allow by tests');
    for (const hostile of ['npm test; id', 'npm test && id', 'npm test $(id)', 'npm test\nid', 'npm test > x', 'npm test | sh'])
      expect([hostile, said(files, command(hostile))]).toEqual([hostile, null]);
  });

  it('allow an exact command to the letter', () => {
    const files = [operator(rules(exact))];
    expect(said(files, command('npm test && npm run lint'))).toBe('allow by both');
    expect(said(files, command('npm test && npm run lint '))).toBeNull();
    expect(said(files, command('npm test && npm run lint; id'))).toBeNull();
  });

  it('are for the project, the harness and the tool that they name', () => {
    const files = [
      operator(rules(rule('r', 'allow', '{ project: prj_1, harness: claude, tool: Bash, command: { exact: ls } }'))),
    ];
    expect(said(files, command('ls'))).toBe('allow by r');
    expect(said(files, command('ls', { project: { id: 'prj_2', name: 'other' } }))).toBeNull();
    expect(said(files, command('ls', { harness: 'codex' }))).toBeNull();
    expect(said(files, asked({ command: 'ls', tool: 'Shell' }))).toBeNull();
    const byName = [operator(rules(rule('r', 'allow', '{ project: shop, kind: command }')))];
    expect(said(byName, command('ls'))).toBe('allow by r');
  });

  it('that deny win over those that ask, and those over what allows', () => {
    const asks = rule('careful', 'ask', '{ kind: command }');
    const files = [operator(rules(test, asks, rule('none', 'deny', '{ command: { exact: npm test } }')))];
    expect(said(files, command('npm test'))).toBe('deny by none');
    expect(said(files, command('npm test x'))).toBe('ask by careful');
  });

  it('that narrow have a command asked which may hold what they are about, unless it is allowed to the letter', () => {
    const all = rule('all', 'allow', '{ kind: command }');
    const files = [operator(rules(all, exact, push))];
    expect(said(files, command('git push origin'))).toBe('deny by no-push');
    expect(said(files, command('true; git push'))).toBe('ask by no-push');
    expect(said(files, command('npm test && npm run lint'))).toBe('allow by both');
    expect(said(files, command('ls'))).toBe('allow by all');
  });

  it('say nothing of a question, a form or a plan', () => {
    const files = [operator(rules(rule('r', 'deny', '{}')))];
    for (const kind of ['question', 'form', 'plan'] as const) expect(said(files, asked({ kind }))).toBeNull();
    expect(said(files, asked({ kind: 'tool' }))).toBe('deny by r');
  });
});

describe('rules about files', () => {
  const docs = operator(rules(rule('docs', 'allow', '{ paths: { below: [docs], exact: [README.md] } }')));

  it('allow a change whose files are all meant, wherever the checkout is', () => {
    expect(said([docs], edit('docs/a.md', '/place/README.md'))).toBe('allow by docs');
    for (const paths of [
      ['docs/a.md', 'src/a.ts'],
      ['docs'],
      ['docs2/a'],
      ['docs/../src/a.ts'],
      ['/docs/a.md'],
      ['../place2/docs/a'],
      [],
    ])
      expect([paths, said([docs], edit(...paths))]).toEqual([paths, null]);
  });

  it('never allow what programs take orders from, at any depth', () => {
    const all = operator(rules(rule('all', 'allow', '{ paths: { below: [sub, .claude], exact: [.mcp.json] } }')));
    expect(said([all], edit('sub/a'))).toBe('allow by all');
    for (const path of ['.claude/settings.json', '.mcp.json', 'sub/.git/hooks/x', 'sub/.claude/a'])
      expect([path, said([all], edit(path))]).toEqual([path, null]);
  });

  it('deny a change of which one file is meant, and have one asked that names none', () => {
    const no = operator(rules(rule('no', 'deny', '{ paths: { below: [infra] } }')));
    expect(said([no], edit('docs/a', 'infra/b'))).toBe('deny by no');
    expect(said([no], edit('docs/a'))).toBeNull();
    expect(said([no], edit())).toBe('ask by no');
  });
});

describe('rules about all changes, or about a tool', () => {
  const own = ['src/a.ts', '/place/b.md', 'file:///place/c.md'];
  const others = ['.git/hooks/x', '.claude/settings.json', '/etc/passwd', '../../x', 'sub/.GIT/x', 'CLAUDE.md', 'sub/agents.md'];
  const more = ['.orrery/policies/a.yaml', '.agents/x', '.husky/pre-commit', '.envrc', 'GEMINI.md', '.cl\u200baude/x'];
  const unclear = ['.', '~/x', 'file:///etc/passwd', 'file://host/place/a', 'file:///place/%2e%2e/x', 'file:a%2Fb', 'a\u3164'];

  it.each(['{ kind: edit }', '{ tool: Edit }', '{ kind: edit, tool: Edit }'])('allow work in the checkout alone: %s', (match) => {
    const files = [operator(rules(rule('all', 'allow', match)))];
    for (const path of own) expect([path, said(files, edit(path))]).toEqual([path, 'allow by all']);
    expect(said(files, edit(...own))).toBe('allow by all');
    for (const path of [...others, ...more, ...unclear])
      expect([path, said(files, edit(path)), said(files, edit('src/a.ts', path))]).toEqual([path, null, null]);
    expect(said(files, edit())).toBeNull();
  });

  it('hold the same of another tool that names files', () => {
    const files = [operator(rules(rule('all', 'allow', '{ tool: Other }')))];
    const other = (...paths: string[]): Asked => asked({ kind: 'tool', tool: 'Other', paths });
    expect([said(files, other()), said(files, other('src/a.ts'))]).toEqual(['allow by all', 'allow by all']);
    for (const path of others) expect([path, said(files, other('src/a.ts', path))]).toEqual([path, null]);
  });
});

describe('rules about files that narrow', () => {
  const files = [operator(rules(rule('no', 'deny', '{ paths: { below: [infra/db], exact: [src/key.ts] } }')))];

  it.each(['infra/db/7.sql', 'infra/db', 'infra/db/', 'infra', './', '/place', 'src', 'src/key.ts'])('mean %s', (path) => {
    expect(said(files, edit('docs/a', path))).toBe('deny by no');
  });
  it.each(['file:///place/infra/db/7', 'FILE:///place/infra', 'file://localhost/place/infra/d%62/7', '/x/../place/infra/db/7'])(
    'mean %s, which is the same file',
    (path) => expect(said(files, edit(path))).toBe('deny by no'),
  );
  it.each(['/real/place/infra/db/7', '../place2/a', '~/place/infra/db/7', 'file://host/place/a', 'inf\u200bra/db/7'])(
    'have %s asked, which may be in the checkout or not',
    (path) => {
      expect(said(files, edit(path))).toBe('ask by no');
      expect(said([...files, operator(rules(rule('all', 'allow', '{ kind: edit }')), '/own/b.yaml')], edit(path))).toBe(
        'ask by no',
      );
    },
  );
  it.each(['infra/other', 'infra/db2', 'src/key.tsx', 'docs'])('do not mean %s', (path) => {
    expect(said(files, edit(path))).toBeNull();
  });
});

describe('rules about commands that narrow', () => {
  const files = [
    operator(
      rules(
        rule('all', 'allow', '{ kind: command }'),
        rule('no-push', 'deny', '{ command: { words: [git, push] } }'),
        rule('no-id', 'ask', '{ command: { exact: id } }'),
      ),
    ),
  ];
  it('look into every shell', () => {
    for (const shell of ['/opt/homebrew/bin/bash -lc', 'ksh -c', 'fish -c', '/bin//bash -c', '/run/sw/bin/zsh -lc'])
      expect([shell, said(files, command(`${shell} 'git push'`))]).toEqual([shell, 'deny by no-push']);
    expect(said(files, command("/opt/bash -lc 'git status'"))).toBe('allow by all');
  });
  it('have a command asked with letters that nobody sees', () => {
    for (const text of ['git \u3164push', 'git\u00a0push', 'gi\ufe0ft push'])
      expect(said(files, command(text))).toBe('ask by no-push');
    expect(said([operator(rules(rule('no-id', 'deny', '{ command: { exact: id } }')))], command('id\u2800'))).toBe(
      'ask by no-id',
    );
  });
  it('do not widen what is allowed: a shell of another folder is none', () => {
    const test = [operator(rules(rule('tests', 'allow', '{ command: { words: [npm, test] } }')))];
    expect(said(test, command("bash -lc 'npm test'"))).toBe('allow by tests');
    for (const text of ["./bash -lc 'npm test'", "fish -c 'npm test'", 'npm test \u3164', 'npm test "\u2800"'])
      expect([text, said(test, command(text))]).toEqual([text, null]);
  });
});

describe('a policy that is broken', () => {
  const good = operator(
    rules(rule('ls', 'allow', '{ command: { exact: ls } }'), rule('no', 'deny', '{ command: { exact: id } }')),
  );

  it('lets nothing be allowed, and what another file denies is denied', () => {
    const bad = operator('rules: [', '/own/b.yaml');
    expect(said([good], command('ls'))).toBe('allow by ls');
    expect(said([good, bad], command('ls'))).toBe('ask by nothing');
    expect(said([good, bad], command('anything'))).toBe('ask by nothing');
    expect(said([good, bad], command('id'))).toBe('deny by no');
    expect(decide([good, bad], command('ls'))?.text).toContain('/own/b.yaml:1');
  });

  it('says which key it does not know, with a guess', () => {
    const bad = operator('rules:\n  - { name: a, action: approval, verdict: allow, match: { comand: { exact: ls } } }\n');
    expect(bad.problem?.code).toBe('unknown_key');
    expect(bad.problem?.message).toContain('did you mean "command"?');
    expect(bad.rules).toEqual([]);
  });

  it.each([
    ['allow without anything that is meant', rule('a', 'allow', '{ project: shop }')],
    ['exact and words', rule('a', 'allow', '{ command: { exact: ls, words: [ls] } }')],
    ['a command with the kind edit', rule('a', 'allow', '{ kind: edit, command: { exact: ls } }')],
    ['a path with ..', rule('a', 'deny', '{ paths: { below: [../x] } }')],
    ['another action', rule('a', 'deny', '{}').replace('approval', 'model.use')],
    ['deny without a reason', rule('a', 'deny', '{}').replace('reason: so, ', '')],
    ['the same name twice', `${rule('a', 'ask', '{}')}${rule('a', 'ask', '{}')}`],
  ])('by %s', (_, text) => {
    expect(operator(rules(text)).problem).not.toBeNull();
  });

  it('by an allow of a project, which is named and refused while the rest of it holds', () => {
    const file = ofProject(rules(rule('mine', 'allow', '{ kind: command }'), rule('no', 'deny', '{ command: { exact: id } }')));
    expect(file.problem?.code).toBe('widening_refused');
    expect(file.problem?.message).toContain('"mine"');
    expect(said([file], command('id'))).toBe('deny by no');
    expect(said([file], command('ls'))).toBe('ask by nothing');
  });
});
