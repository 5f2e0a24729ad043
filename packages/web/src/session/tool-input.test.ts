import { expect, it } from 'vitest';
import { toolInputOf } from './tool-input.ts';

it('reads commands and edits by their form, and leaves the rest', () => {
  expect(toolInputOf('{"command":"npm test","description":"x"}')).toEqual({ kind: 'command', text: 'npm test' });
  expect(toolInputOf('{"file_path":"/a.ts","old_string":"one\\ntwo","new_string":"three\\n"}')).toEqual({
    kind: 'edit',
    edits: [
      {
        path: '/a.ts',
        lines: [
          { sign: '-', text: 'one' },
          { sign: '-', text: 'two' },
          { sign: '+', text: 'three' },
        ],
        more: 0,
      },
    ],
  });
  expect(toolInputOf('{"path":"b.ts","content":"new"}')).toMatchObject({ edits: [{ lines: [{ sign: '+', text: 'new' }] }] });
  expect(toolInputOf('{"path":"b.ts","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":""}]}')).toMatchObject({
    edits: [{ lines: [{}, {}] }, { lines: [{ sign: '-', text: 'c' }] }],
  });
  for (const other of ['no json', '[1]', '{"path":"a.ts"}', '{"pattern":"x"}'])
    expect(toolInputOf(other)).toEqual({ kind: 'other', text: other });
});

it('says how many lines of a long one are not shown', () => {
  const { edits } = toolInputOf(JSON.stringify({ path: 'a', content: 'x\n'.repeat(1_000) })) as Extract<
    ReturnType<typeof toolInputOf>,
    { kind: 'edit' }
  >;
  expect([edits[0]?.lines.length, edits[0]?.more]).toEqual([200, 800]);
});
