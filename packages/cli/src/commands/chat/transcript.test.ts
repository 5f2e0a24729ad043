import { describe, expect, it } from 'vitest';
import type { OrreryEvent } from '@orrery/protocol';
import { anEvent } from '../../../test/chat-facts.ts';
import { emptyTranscript, take, transcriptLimits, type Item, type Transcript } from './transcript.ts';

type Body = OrreryEvent['body'];

const play = (bodies: readonly Body[], from: Transcript = emptyTranscript(0)) => {
  let transcript = from;
  const settled: Item[] = [];
  for (const body of bodies) {
    const taken = take(transcript, anEvent(transcript.sequence + 1, body));
    transcript = taken.transcript;
    settled.push(...taken.settled);
  }
  return { transcript, settled };
};

const text = (row: string, said: string): Body => ({ kind: 'text', row, text: said });
const call = (row: string): Body => ({ kind: 'tool.call', row, tool: 'Bash', input: '{"command":"ls"}' });
const result = (row: string, output: string): Body => ({
  kind: 'tool.result',
  row,
  tool: 'Bash',
  output,
  outputBytes: output.length,
  failed: false,
});
const ended: Body = { kind: 'turn.ended', outcome: 'success', failure: null, message: null, resetsAt: null };
const said = (items: readonly Item[]): string[] =>
  items.map((item) =>
    item.kind === 'tool' ? `${item.row}=${item.result?.output ?? '-'}` : 'text' in item ? item.text : item.kind,
  );

describe('a conversation as its events come', () => {
  it('settles a text when something else follows, in its last revision', () => {
    const { transcript, settled } = play([text('a', 'Fir'), text('a', 'First.'), text('b', 'Sec')]);
    expect([said(settled), said(transcript.open)]).toEqual([['First.'], ['Sec']]);
  });

  it('keeps the order when tools run beside each other', () => {
    const some = play([call('one'), call('two'), result('two', '2')]);
    expect([said(some.settled), said(some.transcript.open)]).toEqual([[], ['one=-', 'two=2']]);
    const all = play([result('one', '1')], some.transcript);
    expect([said(all.settled), all.transcript.open]).toEqual([['one=1', 'two=2'], []]);
  });

  it('settles everything at the end of the turn', () => {
    expect(said(play([call('one'), text('a', 'Done'), ended]).settled)).toEqual(['one=-', 'Done', 'turn']);
  });

  it('takes each event once, and passes over kinds that it does not know', () => {
    const first = take(emptyTranscript(4), anEvent(4, text('a', 'old')));
    expect(first).toEqual({ transcript: emptyTranscript(4), settled: [] });
    const unknown = { kind: 'weather', sky: 'blue' } as unknown as Body;
    expect(said(play([text('a', 'before'), unknown, ended]).settled)).toEqual(['before', 'turn']);
  });

  it('says of a row that is in the scrollback already only what is new', () => {
    const start = play([text('a', 'One.'), text('b', 'x'), ended]);
    expect(said(play([text('a', 'One. Two.'), ended], start.transcript).settled)).toEqual([' Two.', 'turn']);
    expect(said(play([text('a', 'One.'), ended], start.transcript).settled)).toEqual(['turn']);
    const [changed] = play([text('a', 'Another'), ended], start.transcript).settled;
    expect(changed).toEqual({ kind: 'text', row: 'a', text: 'Another', again: true });
  });

  it('remembers a bounded part of ten thousand events', () => {
    const bodies = Array.from({ length: 10_000 }, (_, place) => call(`row-${place}`));
    const { transcript, settled } = play(bodies);
    expect(transcript.open.length).toBeLessThanOrEqual(transcriptLimits.openRows);
    expect(settled.length + transcript.open.length).toBe(10_000);
    expect(transcript.settled.size).toBeLessThanOrEqual(transcriptLimits.settledRows);
    expect(transcript.folded.length).toBeLessThanOrEqual(transcriptLimits.foldedItems);
  });
});
