import type { EventBody, OrreryEvent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { emptyTranscript, withEvents } from './transcript.ts';

const event = (sequence: number, body: EventBody): OrreryEvent => ({
  seq: sequence + 100,
  at: '2026-01-01T00:00:00.000Z',
  taskId: null,
  sessionId: 'ses_1',
  sequence,
  turn: 1,
  body,
});
const text = (sequence: number, row: string, words: string): OrreryEvent => event(sequence, { kind: 'text', row, text: words });
const shown = (events: readonly OrreryEvent[], before = emptyTranscript): string[] =>
  withEvents(before, events).rows.map(({ event: { body } }) => (body.kind === 'text' ? body.text : body.kind));

describe('a transcript', () => {
  it('has a row once, in its newest revision, where it came first', () => {
    expect(shown([text(1, 'a', 'one'), text(2, 'b', 'two'), text(3, 'a', 'one and more')])).toEqual(['one and more', 'two']);
  });

  it('is the same however its events come, also when some come twice', () => {
    const all = [text(1, 'a', 'one'), text(2, 'b', 'two'), text(3, 'a', 'three')];
    const inTwo = withEvents(withEvents(emptyTranscript, all.slice(0, 2)), all.slice(1));
    expect(inTwo).toEqual(withEvents(emptyTranscript, all));
  });

  it('leaves out what is shown elsewhere on the page', () => {
    expect(shown([event(1, { kind: 'state', state: 'idle', reason: null }), text(2, 'a', 'one')])).toEqual(['one']);
  });
});
