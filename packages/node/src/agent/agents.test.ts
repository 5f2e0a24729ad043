import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OrreryError, type AgentSource } from '@orrery/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGENT_FILE_BYTES, AGENT_FILES } from '../kernel/limits.ts';
import { chosen, readAgent } from './model.ts';
import { createAgents, taskWishOf, wishOf } from './service.ts';

const file = (text: string | Uint8Array, source: AgentSource = 'project', path = '.orrery/agents/one.md') =>
  readAgent({ source, path, contents: typeof text === 'string' ? new TextEncoder().encode(text) : text });

const whole = `---
name: one
description: looks
harness: claude
model: m/x
effort: high
mode: plan
egress: [example.org]
budget: 2.5
tools: { allow: [Read, Bash], deny: [Bash] }
unattended: decline
skills: [poem, poem]
mcp: [far, { name: near, command: [node, tools/mcp.mjs] }]
---
Look well.
`;

const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (thrown) {
    return thrown instanceof OrreryError ? thrown.code : thrown;
  }
};

describe('the file of an agent', () => {
  it('is read whole, and with Windows line ends too', () => {
    const expected = {
      name: 'one',
      description: 'looks',
      harness: 'claude',
      model: 'm/x',
      effort: 'high',
      mode: 'plan',
      egress: ['example.org'],
      budgetUsd: 2.5,
      tools: { allow: ['Read', 'Bash'], deny: ['Bash'] },
      unattended: 'decline',
      skills: ['poem'],
      mcp: [
        { name: 'far', command: null },
        { name: 'near', command: ['node', 'tools/mcp.mjs'] },
      ],
      prompt: 'Look well.',
      ignored: [],
      hides: [],
      problem: null,
    };
    expect(file(whole)).toMatchObject(expected);
    expect(file(whole.replaceAll('\n', '\r\n'))).toMatchObject(expected);
    expect(file('Only words.')).toMatchObject({ name: 'one', prompt: 'Only words.', harness: null, problem: null });
  });

  it.each([
    ['a key that is none', '---\ndescription: x\nharnes: claude\n---\n', /^\.orrery\/agents\/one\.md:3:1: .*harnes/],
    ['a value of another kind', '---\nbudget: much\n---\n', /^\.orrery\/agents\/one\.md:2:1: /],
    ['no YAML', '---\n: : :\n  - [\n---\n', /^\.orrery\/agents\/one\.md:\d+:\d+: /],
    ['no end', '---\nname: one\n', /^\.orrery\/agents\/one\.md:1: the front matter has no end/],
    ['another name', '---\nname: two\n---\n', /called otherwise/],
    ['a server that is none', '---\nmcp: [X!]\n---\n', /one\.md:2/],
    ['a server with an address', '---\nmcp: [{ name: x, url: "http://x" }]\n---\n', /one\.md:2/],
    ['a server with no command', '---\nmcp: [{ name: x, command: [] }]\n---\n', /one\.md:2/],
    ['servers that are one word', '---\nmcp: x\n---\n', /one\.md:2/],
    ['two servers of one name', '---\nmcp: [x, { name: x, command: [y] }]\n---\n', /two servers have one name/],
    ['a tool that is an option', '---\ntools: [--yes]\n---\n', /one\.md:2/],
    ['a tool that is two', '---\ntools: { deny: ["a,b"] }\n---\n', /one\.md:2/],
    ['a skill that is a path', '---\nskills: [../x]\n---\n', /one\.md:2/],
    ['skills that are one word', '---\nskills: poem\n---\n', /one\.md:2/],
    [
      'more skills than it may have',
      `---\nskills: [${Array.from({ length: 17 }, (_, at) => `s${at}`).join(', ')}]\n---\n`,
      /one\.md:2/,
    ],
    ['a rule that is none', '---\nunattended: approve\n---\n', /one\.md:2/],
    ['no text', new Uint8Array([0xff, 0xfe, 0x00]), /not text/],
    ['a NUL', 'a\0b', /not text/],
    ['too much', 'x'.repeat(AGENT_FILE_BYTES + 1), /too large/],
    [
      'aliases without end',
      `---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n---\n`,
      /one\.md/,
    ],
    ['an alias of itself', '---\ndescription: &a [*a]\n---\n', /one\.md/],
    ['brackets without end', `---\negress: ${'['.repeat(60_000)}\n---\n`, /one\.md/],
    ['a way out of its class', '---\n__proto__: {harness: x}\nconstructor: y\n---\n', /one\.md/],
  ])('with %s is told with its place and hides nothing else', (_, text, problem) => {
    const agent = file(text);
    expect(agent.problem?.[0]).toMatch(problem);
    expect([agent.name, agent.prompt, codeOf(() => wishOf(agent, { mode: null }))]).toEqual(
      agent.prompt === '' ? ['one', '', 'config_invalid'] : ['one', agent.prompt, 'config_invalid'],
    );
  });

  it('of another program is taken as far as it means the same; what it narrows is not run without', () => {
    const plain = file(
      '---\nname: Reviewer\ndescription: d\nmodel: inherit\ncolor: red\n---\nReview.',
      'claude',
      '.claude/agents/one.md',
    );
    expect(plain).toMatchObject({ harness: 'claude', model: null, ignored: ['color'], prompt: 'Review.', problem: null });
    const narrow = file('---\ntools: Read, Grep\n---\n', 'claude', '.claude/agents/one.md');
    expect([narrow.ignored, narrow.problem?.[0]]).toEqual([
      ['tools'],
      '.claude/agents/one.md narrows what the agent may do (tools).',
    ]);
  });

  it('hides those of later sources, and says so', () => {
    const two = [file(whole, 'claude', '.claude/agents/one.md'), file(whole, 'user', '/c/one.md'), file(whole)];
    expect(chosen(two).map(({ name, source, hides }) => ({ name, source, hides }))).toEqual([
      { name: 'one', source: 'project', hides: ['user: /c/one.md', 'claude: .claude/agents/one.md'] },
    ]);
  });
});

describe('what an agent asks for', () => {
  const asks = (mode: string, source: AgentSource) => file(`---\nmode: ${mode}\n---\n`, source);
  it('is a looser mode only where the user says so', () => {
    const of = (mode: string, source: AgentSource, given: 'all' | null = null) =>
      codeOf(() => wishOf(asks(mode, source), { mode: given }).mode);
    expect([
      of('plan', 'project'),
      of('edits', 'project'),
      of('all', 'project'),
      of('all', 'project', 'all'),
      of('all', 'user'),
    ]).toEqual(['plan', 'widening_refused', 'widening_refused', 'all', 'all']);
  });
  it('is what its file says, walls and the rule for when nobody is there too', () => {
    expect(wishOf(file(whole), { mode: null })).toEqual({
      ...{ harness: 'claude', model: 'm/x', effort: 'high', mode: 'plan' },
      ...{ egress: ['example.org'], budgetUsd: 2.5, unattended: 'decline' },
    });
  });
  it('of tools is a list of those that it may use, lists of both, or nothing at all', () => {
    const of = (said: string) => file(`---\ntools: ${said}\n---\n`).tools;
    expect([of('[Read]'), of('[]'), of('{ deny: [Bash] }'), of('{}'), file('x').tools]).toEqual([
      { allow: ['Read'], deny: [] },
      { allow: [], deny: [] },
      { allow: null, deny: ['Bash'] },
      ...[null, null],
    ]);
  });
});

describe('what an agent asks for in a task', () => {
  it('is what its file says, egress and budget too', () => {
    const text = whole.replace('mode: plan', 'mode: all');
    expect(taskWishOf(file(text))).toEqual({
      ...{ harness: 'claude', model: 'm/x', effort: 'high' },
      ...{ egress: ['example.org'], budgetUsd: 2.5 },
    });
  });
  it('is refused where a task cannot keep it: a mode that asks, and a file with which something is wrong', () => {
    const code = (front: string) => codeOf(() => taskWishOf(file(`---\n${front}\n---\n`)).budgetUsd);
    expect([
      code('mode: ask'),
      code('mode: edits'),
      code('mode: plan'),
      code('mode: all'),
      code('mcp: x'),
      code('unattended: wait'),
      code('unattended: fail'),
    ]).toEqual([...['unsupported', 'unsupported', 'unsupported', null], ...['config_invalid', 'unsupported', null]]);
  });
});

describe('agents', () => {
  const folder = (): string => {
    const made = mkdtempSync('/tmp/agents-');
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  };
  const noTree = { listTree: async () => ({ files: [] }), readFiles: async function* () {} };

  it('of the user are plain files: no links, pipes or folders', async () => {
    const userFolder = folder();
    writeFileSync(join(userFolder, 'mine.md'), 'Mine.');
    writeFileSync(join(userFolder, 'notes.txt'), 'no');
    mkdirSync(join(userFolder, 'dir.md'));
    symlinkSync('/etc/hostname', join(userFolder, 'link.md'));
    const agents = createAgents({ userFolder, userSkills: userFolder, ...noTree });
    expect((await agents.list(null)).map(({ name, source, prompt }) => [name, source, prompt])).toEqual([
      ['mine', 'user', 'Mine.'],
    ]);
    await expect(agents.find('min', null)).rejects.toMatchObject({ code: 'not_found', rule: 'Did you mean "mine"?' });
    expect(await createAgents({ userFolder: join(userFolder, 'none'), userSkills: userFolder, ...noTree }).list(null)).toEqual(
      [],
    );
  });

  it('of a project come from its commit: no links, none below folders, none too large to be read', async () => {
    const entry = (path: string, kind = 'file', bytes = 3) => ({ path, kind, bytes, sha: path });
    const read: string[] = [];
    const agents = createAgents({
      ...{ userFolder: '/nowhere/at/all', userSkills: '/nowhere/at/all' },
      listTree: async (_, { folder: of }) => ({
        files:
          of === '.orrery/agents' ? [entry('a.md'), entry('l.md', 'link'), entry('x/b.md'), entry('big.md', 'file', 1e9)] : [],
      }),
      readFiles: async function* (_, files) {
        for (const { path } of files) {
          read.push(path);
          yield new TextEncoder().encode('Hi.');
        }
      },
    });
    const list = await agents.list({ project: 'p', commit: 'c' });
    expect([read, list.map(({ name, problem }) => [name, problem?.[0] ?? null])]).toEqual([
      ['a.md'],
      [
        ['a', null],
        ['big', '.orrery/agents/big.md is too large.'],
      ],
    ]);
    expect((await agents.find('project:a', { project: 'p', commit: 'c' })).path).toBe('.orrery/agents/a.md');
    await expect(agents.find('user:a', { project: 'p', commit: 'c' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are a bounded number', async () => {
    const files = Array.from({ length: AGENT_FILES + 1 }, (_, at) => ({ path: `a${at}.md`, kind: 'file', bytes: 1, sha: 's' }));
    const agents = createAgents({
      userFolder: '/nowhere',
      userSkills: '/nowhere',
      listTree: async () => ({ files }),
      readFiles: async function* () {},
    });
    await expect(agents.list({ project: 'p', commit: 'c' })).rejects.toMatchObject({ code: 'limit_reached' });
  });
});
