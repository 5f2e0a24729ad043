// What every adapter must do with its program's recorded dialogue. Each adapter's contract.test.ts calls this.

import { readdirSync, readFileSync } from 'node:fs';
import { conversationBody, type ConversationBody } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Harness, ProgramEnd, TurnOutcome, Translated } from './harness.ts';
import { MAX_LINE_BYTES } from './limits.ts';

const recorded = z.record(
  z.string(),
  z.object({
    turns: z.array(
      z.object({ file: z.string(), exitCode: z.int().nullable(), signal: z.string().nullable(), stderr: z.string() }),
    ),
  }),
);

/** One recorded turn and the outcome it must have. */
export type Recording = { readonly name: string; readonly bytes: Uint8Array; readonly end: ProgramEnd };

/** The recorded turns below an adapter's `fixtures/`. */
export const readRecordings = (directory: string): readonly Recording[] => {
  const scenarios = recorded.parse(JSON.parse(readFileSync(`${directory}/recorded.json`, 'utf8')));
  const turns = Object.values(scenarios).flatMap((scenario) => scenario.turns);
  const told = new Set(turns.map((turn) => turn.file));
  const stray = readdirSync(directory).filter((file) => file.endsWith('.jsonl') && !told.has(file));
  if (stray.length > 0) throw new Error(`recordings without an entry in recorded.json: ${stray.join(', ')}`);
  return turns.map(({ file, exitCode, signal, stderr }) => ({
    name: file.replace('.jsonl', ''),
    bytes: readFileSync(`${directory}/${file}`),
    end: { exitCode, signal, stderrTail: stderr },
  }));
};

/** What a whole turn came to. */
export type Played = {
  readonly events: readonly ConversationBody[];
  readonly outcome: TurnOutcome;
  readonly position: Omit<Translated, 'events'> | null;
};

/** Plays a recording in pieces of `size` bytes. */
export const play = (harness: Harness, { bytes, end }: Recording, size = bytes.length): Played => {
  const translator = harness.translator({ offset: 0, state: {} });
  const events: ConversationBody[] = [];
  let position: Played['position'] = null;
  for (let at = 0; at < bytes.length; at += size) {
    const { events: pushed, ...rest } = translator.push(bytes.subarray(at, at + size));
    events.push(...pushed);
    position = rest;
  }
  const ending = translator.end(end);
  return { events: [...events, ...ending.events], outcome: ending.outcome, position };
};

/** Ends the reader at each committed offset, stores its state as JSON and goes on with a new reader. */
const playRestarted = (harness: Harness, { bytes, end }: Recording): Played => {
  const events: ConversationBody[] = [];
  let at: Pick<Translated, 'offset' | 'state'> = { offset: 0, state: {} };
  let position: Played['position'] = null;
  for (let until = 1; until <= bytes.length; until++) {
    if (bytes[until - 1] !== 10) continue;
    const translator = harness.translator({ offset: at.offset, state: JSON.parse(JSON.stringify(at.state)) });
    const { events: pushed, ...rest } = translator.push(bytes.subarray(at.offset, until));
    events.push(...pushed);
    expect(rest.offset).toBe(until);
    at = rest;
    position = rest;
  }
  const translator = harness.translator({ offset: at.offset, state: JSON.parse(JSON.stringify(at.state)) });
  translator.push(bytes.subarray(at.offset));
  const ending = translator.end(end);
  return { events: [...events, ...ending.events], outcome: ending.outcome, position };
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const GARBAGE: readonly (readonly [string, Uint8Array])[] = [
  ['words', encode('Segmentation fault\n')],
  ['half an object', encode('{"type":"assistant","message":{"id":\n')],
  ['another kind of JSON', encode('[1,2,3]\nnull\n42\n"text"\ntrue\n')],
  ['no type', encode('{}\n{"type":null}\n{"type":{"a":1}}\n')],
  ['names of JavaScript', encode('{"type":"__proto__"}\n{"type":"constructor"}\n{"type":"toString"}\n')],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a])],
  ['deep nesting', encode(`{"type":"x","a":${'['.repeat(100_000)}\n`)],
  ['empty lines and CRLF', encode('\r\n\n\r\n')],
];

/** Every recording of `directory` must give `expected` (by its name), whatever way its bytes come. */
export const describeHarnessContract = (
  harness: Harness,
  directory: string,
  expected: Readonly<Record<string, Partial<TurnOutcome>>>,
): void => {
  const recordings = readRecordings(directory);

  describe(`${harness.id}: recorded dialogues`, () => {
    it('has an expectation for each recording and a recording for each expectation', () => {
      expect(recordings.map(({ name }) => name).toSorted()).toEqual(Object.keys(expected).toSorted());
    });

    it.each(recordings)('$name: the outcome is told by structure', (recording) => {
      const { outcome } = play(harness, recording);
      expect(outcome).toMatchObject({ kind: 'turn.ended', ...expected[recording.name] });
    });

    it.each(recordings)('$name: the same events whole, byte by byte, and restarted at each offset', (recording) => {
      const whole = play(harness, recording);
      expect(play(harness, recording, 1)).toEqual(whole);
      expect(playRestarted(harness, recording)).toEqual(whole);
      for (const event of whole.events) expect(conversationBody.safeParse(event)).toMatchObject({ success: true });
      expect(whole.position?.offset ?? 0).toBe(recording.bytes.length);
    });

    it.each(recordings)('$name: nothing in it is unknown to the adapter', (recording) => {
      const unknown = play(harness, recording).events.filter(
        (event) => event.kind === 'notice' && /does not know|Unknown to this/.test(event.text),
      );
      expect(unknown).toEqual([]);
    });
  });

  describe(`${harness.id}: what a program should not say`, () => {
    it.each(GARBAGE)('%s: becomes notices and counts, never an exception', (_, bytes) => {
      const { events, outcome } = play(harness, { name: 'garbage', bytes, end: { exitCode: 0, signal: null, stderrTail: '' } });
      expect(events.every((event) => event.kind === 'notice')).toBe(true);
      expect(outcome).toMatchObject({ outcome: 'error', failure: 'program' });
    });

    it('noise between the lines changes nothing but adds its notice', () => {
      const [recording] = recordings.filter(({ name }) => name === 'turn-with-tools');
      if (recording === undefined) throw new Error('no recording named turn-with-tools');
      const lines = Buffer.from(recording.bytes).toString('utf8').trimEnd().split('\n');
      const noisy = { ...recording, bytes: encode(`${lines.join('\nwarning: something\n')}\n`) };
      const plain = play(harness, noisy).events.filter((event) => event.kind !== 'notice');
      expect(plain).toEqual(play(harness, recording).events.filter((event) => event.kind !== 'notice'));
      expect(play(harness, noisy).outcome).toEqual(play(harness, recording).outcome);
    });

    it('a line past the limit is skipped with a notice, and the next one is read', () => {
      const translator = harness.translator({ offset: 0, state: {} });
      const piece = new Uint8Array(1024 * 1024).fill(0x78);
      for (let bytes = 0; bytes <= MAX_LINE_BYTES; bytes += piece.length) expect(translator.push(piece).events).toEqual([]);
      const { events } = translator.push(encode('\nhello\n'));
      expect(events.map((event) => (event.kind === 'notice' ? event.level : event.kind))).toEqual(['warning', 'info']);
    });

    it('a stored state of another shape is refused, not guessed', () => {
      expect(() => harness.translator({ offset: 5, state: { something: 'else' } })).toThrow(/reading position/);
    });
  });

  describe(`${harness.id}: how a turn is ended from outside`, () => {
    const silent = (end: Partial<ProgramEnd>) =>
      play(harness, { name: 'silent', bytes: new Uint8Array(0), end: { exitCode: null, signal: null, stderrTail: '', ...end } })
        .outcome;

    it('tells cancelled, out of time, stopped and killed apart', () => {
      expect(silent({ signal: 'SIGTERM', stoppedFor: 'cancel' })).toMatchObject({ outcome: 'cancelled', failure: null });
      expect(silent({ exitCode: 143, stoppedFor: 'timeout' })).toMatchObject({ outcome: 'error', failure: 'timeout' });
      expect(silent({ exitCode: 143, stoppedFor: 'node' })).toMatchObject({ outcome: 'interrupted', failure: null });
      expect(silent({ exitCode: 143 })).toMatchObject({ outcome: 'interrupted' });
      expect(silent({ signal: 'SIGKILL' })).toMatchObject({ outcome: 'interrupted' });
    });

    it('believes the gateway about limits, budgets and lost connections', () => {
      const resetsAt = '2030-01-01T00:00:00.000Z';
      expect(silent({ exitCode: 1, gateway: { failure: 'usage_limit', message: 'x', resetsAt } })).toMatchObject({
        outcome: 'limit',
        failure: 'usage_limit',
        resetsAt,
      });
      expect(
        silent({ exitCode: 0, gateway: { failure: 'budget', message: 'The budget is used up.', resetsAt: null } }),
      ).toMatchObject({ outcome: 'budget', message: 'The budget is used up.' });
      expect(silent({ exitCode: 0, gateway: { failure: 'network', message: 'x', resetsAt: null } })).toMatchObject({
        outcome: 'error',
        failure: 'network',
      });
    });
  });
};
