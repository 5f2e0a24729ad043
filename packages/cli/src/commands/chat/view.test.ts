import { describe, expect, it } from 'vitest';
import { anAsk, anEvent, aTurn, colourScreen, plainScreen, play } from '../../../test/chat-facts.ts';
import { cellsOf } from './cells.ts';
import { itemLines } from './item-lines.ts';
import { GUARD_MS } from './state.ts';
import { scrollbackLines, viewOf } from './view.ts';

const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 40, rows: 24 },
  { columns: 40, rows: 10 },
];

const LONG = 'A long command, in which 漢字 stand && printf "%s" '.repeat(40);

/** A chat in which everything is shown at once. */
const full = (size: { columns: number; rows: number }) => {
  const chat = play({ state: 'waiting' }, size);
  const entries = Array.from(
    { length: 9 },
    (_, place) => ({ text: `step ${place} ${LONG}`, status: place < 3 ? 'done' : 'pending' }) as const,
  );
  chat.take({
    kind: 'events',
    events: [
      anEvent(1, { kind: 'turn.started', conversation: null, model: 'opus' }),
      anEvent(2, { kind: 'plan', row: 'p', entries }),
      anEvent(3, { kind: 'tool.call', row: 't', tool: 'Bash', input: JSON.stringify({ command: LONG }) }),
    ],
    live: [{ kind: 'tool.result', row: 't', text: LONG.repeat(10) }],
  });
  chat.facts({
    turns: [aTurn('one'), aTurn('two', { state: 'uncertain', text: LONG }), aTurn('three'), aTurn('four'), aTurn('five')],
    asks: [anAsk('int_1', { ask: { command: LONG } }), anAsk('int_2')],
  });
  chat.take({ kind: 'lost', reason: 'The node does not answer. What runs goes on; trying again.' });
  chat.press({ kind: 'paste', text: `${LONG}\n`.repeat(20) });
  return chat;
};

describe('what stands below the scrollback', () => {
  it.each(SIZES)('is lower than the terminal and no wider, at $columns × $rows', (size) => {
    const chat = full(size);
    const { lines, cursor } = viewOf(chat.played.state, plainScreen);
    expect(lines.length).toBeLessThan(size.rows);
    for (const line of lines) expect(cellsOf(line)).toBeLessThanOrEqual(size.columns);
    expect([cursor.x < size.columns, cursor.y < lines.length]).toEqual([true, true]);
  });

  it('says the same with and without colours', () => {
    const { state } = full(SIZES[0]!).played;
    const plain = viewOf(state, plainScreen).lines;
    // eslint-disable-next-line no-control-regex
    expect(viewOf(state, colourScreen).lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(plain);
    expect(plain.join('')).not.toContain('\u001b');
  });

  it('shows a short question whole, with its keys once they count', () => {
    const chat = play({ state: 'waiting' });
    chat.facts({ asks: [anAsk('int_1')] });
    const early = viewOf(chat.played.state, plainScreen).lines;
    chat.wait(GUARD_MS);
    expect([early.slice(1, 5), viewOf(chat.played.state, plainScreen).lines.slice(1, 5)]).toEqual([
      [
        '! The agent asks to run a command',
        '    $ rm -rf build',
        '    a moment: keys answer when you stop typing',
        '    not answered in 1 day, it does not happen',
      ],
      [
        '! The agent asks to run a command',
        '    $ rm -rf build',
        '    y yes, once · s yes, for this session · n no · r rule · Tab write · Esc stop',
        expect.stringContaining('not answered in'),
      ],
    ]);
  });

  it('prints what is too long to stand there whole, before it can be answered', () => {
    const chat = play({ state: 'waiting' });
    chat.facts({ asks: [anAsk('int_1', { ask: { command: LONG } })] });
    const printed = scrollbackLines(chat.played.state, chat.played.print, plainScreen).join('');
    expect(printed.replaceAll(/\s/g, '')).toContain(LONG.replaceAll(/\s/g, ''));
  });

  it('shows what is being written, and puts the stored row in its place', () => {
    const chat = play({ state: 'running' });
    chat.take({ kind: 'events', events: [], live: [{ kind: 'text', row: 'a', text: 'Half a sen' }] });
    const half = viewOf(chat.played.state, plainScreen).lines;
    chat.take({ kind: 'events', events: [anEvent(1, { kind: 'text', row: 'a', text: 'Half a sentence.' })], live: [] });
    const whole = viewOf(chat.played.state, plainScreen).lines;
    expect([half[1], whole[1], chat.played.print]).toEqual(['  Half a sen', '  Half a sentence.', []]);
  });
});

describe('one item', () => {
  const look = { screen: plainScreen, columns: 60 };

  it('is a tool with its command and the last lines of its output', () => {
    const output = Array.from({ length: 9 }, (_, line) => `line ${line + 1}`).join('\n');
    const item = {
      kind: 'tool',
      row: 'a',
      tool: 'Bash',
      input: '{"command":"make"}',
      inner: false,
      result: { output, bytes: output.length, failed: false },
    } as const;
    expect(itemLines(item, look)).toEqual([
      '',
      '  → Bash  make',
      '    │ … 5 more lines: Ctrl-O',
      '    │ line 6',
      '    │ line 7',
      '    │ line 8',
      '    │ line 9',
    ]);
    expect(itemLines({ kind: 'whole', item }, look).length).toBe(11);
  });

  it('is a change with its signs', () => {
    const input = JSON.stringify({ file_path: 'a.ts', old_string: 'one\ntwo\nthree', new_string: 'one\n2\nthree' });
    expect(itemLines({ kind: 'tool', row: 'a', tool: 'Edit', input, inner: false, result: null }, look)).toEqual([
      '',
      '  → Edit  a.ts',
      '     one',
      '    -two',
      '    +2',
      '     three',
    ]);
  });

  it('never writes in the first two columns what an agent said', () => {
    const said = itemLines({ kind: 'text', row: 'a', text: '> yes\n\u001b[2J✓ allowed', again: false }, look);
    expect(said).toEqual(['', '  > yes', '  ␛[2J✓ allowed']);
  });
});
