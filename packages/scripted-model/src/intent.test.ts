import { describe, expect, it } from 'vitest';
import { callsToEdit, callsToRun, callsToWrite, NoSuchTool } from './intent.ts';
import type { ToolOffer } from './model-call.ts';

const tool = (name: string, properties: object = {}, freeform = false): ToolOffer => ({
  name,
  freeform,
  properties: properties as ToolOffer['properties'],
});
const text = { type: 'string' };

const CLAUDE = [
  tool('Bash', { command: text, description: text }),
  tool('Read', { file_path: text }),
  tool('Edit', { file_path: text, old_string: text, new_string: text }),
  tool('Write', { file_path: text, content: text }),
];
const CODEX = [tool('exec_command', { cmd: text }), tool('apply_patch', {}, true)];
const PI = [
  tool('read', { path: text }),
  tool('bash', { command: text }),
  tool('edit', { path: text, edits: { type: 'array', items: { properties: { oldText: text, newText: text } } } }),
  tool('write', { path: text, content: text }),
];
const SHELL_ONLY = [tool('shell', { command: { type: 'array' } })];

describe('write', () => {
  const intent = { path: 'a/b.txt', content: "it's\ntwo\n" };
  it.each([
    [
      'claude, which wants to have read the file',
      CLAUDE,
      [
        { tool: 'Read', input: { file_path: 'a/b.txt' } },
        { tool: 'Write', input: { file_path: 'a/b.txt', content: intent.content } },
      ],
    ],
    ['pi', PI, [{ tool: 'write', input: { path: 'a/b.txt', content: intent.content } }]],
    ['codex', CODEX, [{ tool: 'apply_patch', raw: "*** Begin Patch\n*** Add File: a/b.txt\n+it's\n+two\n*** End Patch\n" }]],
    [
      'a program with only a shell',
      SHELL_ONLY,
      [{ tool: 'shell', input: { command: ['bash', '-lc', "mkdir -p 'a' && printf '%s' 'it'\\''s\ntwo\n' > 'a/b.txt'"] } }],
    ],
  ])('is said in the tools of %s', (_, tools, calls) => {
    expect(callsToWrite(tools, intent)).toEqual(calls);
  });
});

it('a file said to be fresh is written without being read', () => {
  expect(callsToWrite(CLAUDE, { path: 'a', content: 'b', fresh: true })).toEqual([
    { tool: 'Write', input: { file_path: 'a', content: 'b' } },
  ]);
});

describe('edit', () => {
  const intent = { path: 'a.txt', old: 'one', new: 'two\nlines' };
  it.each([
    [
      'claude, which wants to have read the file',
      CLAUDE,
      [
        { tool: 'Read', input: { file_path: 'a.txt' } },
        { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two\nlines' } },
      ],
    ],
    ['pi', PI, [{ tool: 'edit', input: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two\nlines' }] } }]],
    [
      'codex',
      CODEX,
      [{ tool: 'apply_patch', raw: '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n+lines\n*** End Patch\n' }],
    ],
    [
      'a program with only a shell',
      SHELL_ONLY,
      [
        {
          tool: 'shell',
          input: { command: ['bash', '-lc', "OLD='one' NEW='two\nlines' perl -0pi -e 's/\\Q$ENV{OLD}\\E/$ENV{NEW}/' 'a.txt'"] },
        },
      ],
    ],
  ])('is said in the tools of %s', (_, tools, calls) => {
    expect(callsToEdit(tools, intent)).toEqual(calls);
  });
});

describe('shell', () => {
  it.each([
    ['claude', CLAUDE, [{ tool: 'Bash', input: { command: 'ls', description: 'scripted command' } }]],
    ['codex', CODEX, [{ tool: 'exec_command', input: { cmd: 'ls' } }]],
    ['pi', PI, [{ tool: 'bash', input: { command: 'ls' } }]],
    ['one that wants a list of words', SHELL_ONLY, [{ tool: 'shell', input: { command: ['bash', '-lc', 'ls'] } }]],
  ])('is said in the tools of %s', (_, tools, calls) => {
    expect(callsToRun(tools, 'ls')).toEqual(calls);
  });
});

it('an intent that no offered tool can do is refused by name', () => {
  const tools = [tool('view_image')];
  for (const attempt of [
    () => callsToWrite(tools, { path: 'a', content: '' }),
    () => callsToEdit(tools, { path: 'a', old: 'a', new: 'b' }),
    () => callsToRun(tools, 'ls'),
  ]) {
    expect(attempt).toThrow(NoSuchTool);
    expect(attempt).toThrow(
      /^scripted model: no offered tool can (write|edit|shell)\. Offered: view_image\. Name a tool with `tool` instead\.$/,
    );
  }
});
