import type { EventBody, OrreryEvent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { acpLimits } from './limits.ts';
import { answerOfForm, formOf } from './form.ts';
import { answerOf, optionsOf, wantsWords } from './permission.ts';
import { placeOf } from './place.ts';
import { promptText } from './prompt-text.ts';
import { lineSieve } from '../../line-sieve.ts';
import { toolFace } from './tools.ts';
import { createTranslation } from './updates.ts';

const place = placeOf({ root: '/shop', workdir: () => '/tree' });

const translated = (bodies: readonly EventBody[], notices = false) => {
  const translation = createTranslation({ place, notices });
  return bodies.flatMap((body, index) => {
    const event: OrreryEvent = { seq: index, at: '', taskId: null, sessionId: 's', sequence: index + 1, turn: 1, body };
    return translation.updates(event);
  });
};

const text = (row: string, said: string): EventBody => ({ kind: 'text', row, text: said });
const texts = (bodies: readonly EventBody[]) =>
  translated(bodies).map((update) => ('content' in update && 'messageId' in update ? [update.messageId, update.content] : null));

describe('updates', () => {
  it('say what is new of a row, and a row that became another anew', () => {
    expect(
      texts([text('a', 'One'), text('a', 'One, two'), text('a', 'One, two'), text('b', 'Other'), text('a', 'Else')]),
    ).toEqual([
      ['1.a.text', { type: 'text', text: 'One' }],
      ['1.a.text', { type: 'text', text: ', two' }],
      ['1.b.text', { type: 'text', text: 'Other' }],
      ["1.a.text'", { type: 'text', text: 'Else' }],
    ]);
  });

  it('remember a bounded number of rows', () => {
    const many = Array.from({ length: acpLimits.rows + 1 }, (_, index) => text(`r${index}`, 'x'));
    expect(texts([...many, text('r0', 'x again')]).at(-1)).toEqual(['1.r0.text', { type: 'text', text: 'x again' }]);
  });

  it('show a failed tool with what it printed, a change with its diff, and a result without a call', () => {
    const input = JSON.stringify({ path: 'a.ts', edits: [{ oldText: 'a', newText: 'b' }] });
    const result = { kind: 'tool.result' as const, tool: 'edit', outputBytes: 4, failed: false };
    expect(
      translated([
        { kind: 'tool.call', row: 't', tool: 'edit', input },
        { ...result, row: 't', output: 'done' },
        { ...result, row: 'u', output: 'lost', failed: true },
      ]),
    ).toEqual([
      {
        sessionUpdate: 'tool_call',
        toolCallId: '1.t',
        status: 'in_progress',
        title: 'edit /shop/a.ts',
        kind: 'edit',
        locations: [{ path: '/shop/a.ts' }],
        content: [{ type: 'diff', path: '/shop/a.ts', oldText: 'a', newText: 'b' }],
      },
      { sessionUpdate: 'tool_call_update', toolCallId: '1.t', status: 'completed' },
      {
        sessionUpdate: 'tool_call',
        toolCallId: '1.u',
        title: 'edit',
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: 'lost' } }],
      },
    ]);
  });

  it('tell plans and how full the window is, and keep the words of sub-agents apart', () => {
    const entries = [
      { text: 'Look', status: 'done' as const },
      { text: 'Mend', status: 'active' as const },
    ];
    expect(
      translated([
        { kind: 'plan', row: 'p', entries },
        { kind: 'context', usedTokens: 10, windowTokens: 200 },
        { kind: 'context', usedTokens: 10, windowTokens: null },
        { kind: 'text', row: 'x', text: 'from below', agent: 'a' },
        { kind: 'agent', row: 'a', name: 'looker\u001b[1m', state: 'completed', summary: 'found it' },
      ]),
    ).toEqual([
      {
        sessionUpdate: 'plan',
        entries: [
          { content: 'Look', priority: 'medium', status: 'completed' },
          { content: 'Mend', priority: 'medium', status: 'in_progress' },
        ],
      },
      { sessionUpdate: 'usage_update', used: 10, size: 200 },
      { sessionUpdate: 'agent_thought_chunk', messageId: '1.x.text', content: { type: 'text', text: 'from below' } },
      {
        sessionUpdate: 'agent_thought_chunk',
        content: { type: 'text', text: 'Sub-agent looker, completed: found it\n' },
      },
    ]);
  });

  it('give notices only to an editor that takes them', () => {
    const notice: EventBody = { kind: 'notice', level: 'warning', text: 'The model is slow.' };
    expect([translated([notice], true), translated([notice])].map(([update]) => update?.sessionUpdate)).toEqual([
      'notice',
      'agent_message_chunk',
    ]);
  });
});

describe('tool calls', () => {
  it.each([
    ['shell', 'ls -l', 'execute', 'ls -l'],
    ['Bash', '{"command":"make\\u001b[31m"}', 'execute', 'make'],
    ['Read', '{"file_path":"/tree/x","offset":4}', 'read', 'Read /shop/x'],
    ['Grep', '{"pattern":"x"}', 'search', 'Grep x'],
    ['WebFetch', '{"url":"https://e.org"}', 'fetch', 'WebFetch https://e.org'],
    ['mcp.unheard', '[1]', 'other', 'mcp.unheard [1]'],
    ['Write', '{"file_path":"/tree/cut', 'edit', 'Write {"file_path":"/tree/cut'],
  ])('%s %s', (tool, input, kind, title) => {
    expect(toolFace(tool, input, place)).toMatchObject({ kind, title });
  });

  it('read the patch of a program that tells changes as one', () => {
    const face = toolFace('apply_patch', '/tree/a.txt\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n', place);
    expect(face.content).toEqual([{ type: 'diff', path: '/shop/a.txt', oldText: 'same\nold\n', newText: 'same\nnew\n' }]);
  });

  it('have a title of one bounded line', () => {
    expect(toolFace('shell', 'x\n'.repeat(1000), place).title.length).toBe(acpLimits.titleChars);
  });
});

describe('questions', () => {
  const one = {
    ...{ key: 'q1', header: null, text: '?', type: 'text' as const, several: false, free: false, required: true },
    ...{ min: null, max: null, format: null, initial: null },
    choices: ['red', 'blue'].map((value) => ({ value, label: value, description: null })),
  };
  const ask = {
    kind: 'question' as const,
    tool: null,
    title: '?',
    command: null,
    paths: [],
    detail: '',
    questions: [one],
  };
  it('take only an option that was offered', () => {
    const question = { ...ask, outcomes: ['answered' as const, 'denied' as const] };
    expect(['choice-1', 'choice-2', 'choice-x', 'denied', 'approved', ''].map((option) => answerOf(question, option))).toEqual([
      { outcome: 'answered', answers: { q1: 'blue' } },
      null,
      null,
      { outcome: 'denied' },
      null,
      null,
    ]);
  });
  it('can only be rejected where nothing else is offered, and want words where nothing can be chosen', () => {
    expect(optionsOf({ ...ask, outcomes: ['denied'] }).map(({ kind }) => kind)).toEqual(['reject_once']);
    const wants = (questions: (typeof one)[]) => wantsWords({ ...ask, questions, outcomes: ['answered'] });
    expect([wants([one]), wants([{ ...one, choices: [] }]), wants([one, { ...one, key: 'q2' }])]).toEqual([false, true, true]);
  });
  it('are one form, and only what was asked is taken from it', () => {
    const asked = {
      ...ask,
      questions: [one, { ...one, key: 'age', type: 'integer' as const, choices: [], min: 1, required: false }],
    };
    expect(formOf(asked.questions)).toMatchObject({
      properties: { q1: { oneOf: [{}, {}] }, age: { type: 'integer', minimum: 1 } },
    });
    const filled = { content: { q1: 'red', age: 3, other: 'x', __proto__: { q2: 'y' } } };
    expect(answerOfForm({ ...asked, outcomes: ['answered'] }, filled)).toEqual({
      outcome: 'answered',
      answers: { q1: 'red', age: 3 },
    });
    expect(answerOfForm({ ...asked, outcomes: ['answered'] }, { content: { q1: { deep: 1 } } })).toBeNull();
  });
});

describe('prompts', () => {
  it('fence embedded text so that it cannot end its own fence', () => {
    const resource = { uri: 'file:///shop/a.md#L2:4', text: '````\nx\n````' };
    expect(promptText([{ type: 'resource', resource }], place)).toBe(
      '\n\nFrom the editor, a.md (lines 2-4):\n`````\n````\nx\n````\n`````\n',
    );
  });
  it('refuse what cannot be put into words', () => {
    const refusal = (blocks: Parameters<typeof promptText>[0]) => {
      try {
        return promptText(blocks, place);
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };
    expect([
      refusal([]),
      refusal([{ type: 'audio', data: '', mimeType: 'audio/wav' }]),
      refusal([{ type: 'resource', resource: { uri: 'file:///shop/a.png', blob: 'AA==' } }]),
      refusal([{ type: 'text', text: 'x'.repeat(acpLimits.promptChars + 1) }]),
    ]).toEqual([
      'The prompt is empty.',
      'A prompt cannot have audio in it.',
      'The embedded file a.png is not text.',
      'The prompt is too long.',
    ]);
  });
});

describe('lines of an editor', () => {
  it('come whole however they are cut, and one that is too long is told once and passed over', () => {
    for (const size of [1, 2, 3, 7, 100]) {
      let told = 0;
      const sieve = lineSieve(8, () => told++);
      const bytes = Buffer.from('one\n0123456789abcdef\n\nfour\n1234567\n12345678\nrest');
      const lines: string[] = [];
      for (let from = 0; from < bytes.length; from += size)
        lines.push(...sieve.push(bytes.subarray(from, from + size)).map((line) => Buffer.from(line).toString()));
      expect({ size, lines, told }).toEqual({ size, lines: ['one\n', '\n', 'four\n', '1234567\n'], told: 2 });
    }
  });
});
