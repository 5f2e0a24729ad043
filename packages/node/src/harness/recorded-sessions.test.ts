// What the pinned programs said in whole conversations, played again: whole, byte by byte, and from each stored state.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conversationBody, type ConversationBody } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { expectOfProtocol, type Said } from '../../test/acp-play.ts';
import { adapterOf, bytesOf } from '../../test/dialogue-script.ts';
import { FAILURES, failuresOf, scenariosOf, wordsOf, type FailureName } from '../../test/session-scenarios.ts';
import type { Happened } from '../../test/spoken-program.ts';
import type { Dialogue, DialogueStep, SessionFact } from './dialogue.ts';
import type { Harness } from './harness.ts';
import { createHarnessRegistry } from './registry.ts';

const pinned = createHarnessRegistry().list.filter(({ pin, session }) => pin !== null && session !== null);

const folderOf = ({ id }: Harness): string => join(import.meta.dirname, id, 'fixtures/sessions');

const recordingOf = (harness: Harness, name: string): readonly Happened[] =>
  readFileSync(join(folderOf(harness), `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Happened);

type How = { readonly cut?: boolean; readonly restart?: boolean };

/** What the node makes of a recording. */
const play = (harness: Harness, recording: readonly Happened[], how: How = {}): readonly DialogueStep[] => {
  const adapter = adapterOf(harness);
  let dialogue: Dialogue | null = null;
  const steps: DialogueStep[] = [];
  for (const one of recording) {
    if ('begin' in one) dialogue = adapter.dialogue({ offset: 0, state: null });
    if (dialogue === null) throw new Error('a recording begins with a beginning');
    if ('begin' in one) steps.push(dialogue.begin(one.begin));
    else if ('tell' in one) steps.push(dialogue.tell(one.tell));
    else if ('end' in one) steps.push(dialogue.end());
    else {
      const bytes = bytesOf(one.hear);
      const pieces = how.cut === true ? [...bytes].map((byte) => new Uint8Array([byte])) : [bytes];
      for (const piece of pieces) steps.push(...dialogue.push(piece));
    }
    if (how.restart !== true) continue;
    const { offset, state } = dialogue.position();
    dialogue = adapter.dialogue({ offset, state: JSON.parse(JSON.stringify(state)) });
  }
  return steps.filter((step) => Object.values(step).some((part) => part.length > 0));
};

const eventsOf = (steps: readonly DialogueStep[]): readonly ConversationBody[] => steps.flatMap(({ events }) => events);
const factsOf = (steps: readonly DialogueStep[]): readonly SessionFact[] => steps.flatMap(({ facts }) => facts);

/** Those whose word on the end of a turn is believed only where the gateway knows of no failure. */
const doubted = new Set(['copilot', 'qwen']);
const success = ({ id }: Harness): string => (doubted.has(id) ? 'success?' : 'success');

/** What each failure of a model call is told as. */
const told: Readonly<Record<FailureName, string>> = {
  ...{ overloaded: 'overloaded', rate_limit: 'rate_limit', auth: 'auth', usage_limit: 'usage_limit' },
  ...{ credit: 'billing', too_long: 'context', cut: 'network', garbage: 'protocol' },
};

/** What one program tells in another way: what the gateway knows goes before it. */
const otherwise: Readonly<Record<string, Partial<Readonly<Record<FailureName, string>>>>> = {
  gemini: { cut: 'overloaded', garbage: 'overloaded' },
  copilot: Object.fromEntries(FAILURES.map((name) => [name, 'success?'])),
};

const expected = (harness: Harness, name: string): readonly string[] => {
  const asks = adapterOf(harness).capabilities.approvals;
  switch (name) {
    case 'talk':
      return Array.from({ length: asks ? 4 : 2 }, () => success(harness));
    case 'stops': {
      // OpenCode that is stopped before it began says that it failed; the node knows that it was stopped.
      const first = harness.id === 'opencode' ? 'program' : 'stopped';
      return [first, ...Array.from({ length: asks ? 4 : 3 }, () => 'stopped'), success(harness)];
    }
    case 'fails':
      return [...failuresOf(harness).map((failure) => otherwise[harness.id]?.[failure] ?? told[failure]), success(harness)];
    case 'resumes':
      return [success(harness), success(harness)];
    default:
      return [success(harness)];
  }
};

const textsOf = (steps: readonly DialogueStep[]): string => {
  const rows = new Map<string, string>();
  for (const event of eventsOf(steps)) if (event.kind === 'text') rows.set(event.row, event.text);
  return [...rows.values()].join('\n');
};

describe.each(pinned)('conversations that were recorded with $id', (harness) => {
  const names = scenariosOf(harness);
  const recordings = names.map((name) => ({ name, recording: recordingOf(harness, name) }));

  it('are all there, and no others', () => {
    expect(readdirSync(folderOf(harness)).toSorted()).toEqual(names.map((name) => `${name}.jsonl`).toSorted());
  });

  it.each(recordings)('$name: the same whole, byte by byte, and from each stored state', ({ recording }) => {
    const whole = play(harness, recording);
    expect(play(harness, recording, { cut: true })).toEqual(whole);
    expect(play(harness, recording, { restart: true })).toEqual(whole);
  });

  it.each(recordings)('$name: its turns ended as they did', ({ name, recording }) => {
    expect(wordsOf(factsOf(play(harness, recording)))).toEqual(expected(harness, name));
  });

  it.each(recordings)('$name: holds nothing that the adapter does not know, and every row is one', ({ recording }) => {
    const events = eventsOf(play(harness, recording));
    expect(events.filter((event) => event.kind === 'notice' && /does not know/.test(event.text))).toEqual([]);
    for (const event of events) expect(conversationBody.safeParse(event)).toMatchObject({ success: true });
    const calls = new Set(events.flatMap((event) => (event.kind === 'tool.call' ? [event.row] : [])));
    expect(events.filter((event) => event.kind === 'tool.result' && !calls.has(event.row))).toEqual([]);
  });

  const speaks = (harness.session?.capabilities.steer ?? false) ? 'a dialect of its own' : 'the Agent Client Protocol';
  it(`what is said to it is of ${speaks}`, () => {
    if (speaks !== 'the Agent Client Protocol') return;
    for (const { recording } of recordings)
      for (const { frames } of play(harness, recording))
        for (const { text } of frames) expectOfProtocol(JSON.parse(text) as Said);
  });

  it('holds what was thought, said, asked, done and shown', () => {
    const steps = play(harness, recordingOf(harness, 'talk'));
    const events = eventsOf(steps);
    const { approvals, context } = adapterOf(harness).capabilities;
    expect(events.find((event) => event.kind === 'thinking')).toMatchObject({
      text: expect.stringContaining('The file is missing, é☃.'),
    });
    expect(textsOf(steps)).toMatch(/I make it\.[^]*It is there: é☃😀\.[^]*A red dot\./);
    const asked = factsOf(steps).flatMap((fact) => (fact.kind === 'asks' ? [[fact.ask.kind, fact.ask.command]] : []));
    const commands = ['echo one > one.txt; cat one.txt', 'echo denied > denied.txt', 'echo timed-out > timed-out.txt'];
    expect(asked).toEqual(approvals ? commands.map((command) => ['command', expect.stringContaining(command)]) : []);
    expect(events.some((event) => event.kind === 'tool.result' && event.output.includes('one'))).toBe(true);
    expect(events.some((event) => event.kind === 'usage' && event.inputTokens > 0)).toBe(true);
    expect(events.some((event) => event.kind === 'context')).toBe(context);
    expect(steps.some(({ frames }) => frames.some(({ text }) => /iVBOR|dot\.png/.test(text)))).toBe(true);
  });

  it('goes on with the conversation that it had', () => {
    const recording = recordingOf(harness, 'resumes');
    const named = factsOf(play(harness, recording)).flatMap((fact) => (fact.kind === 'conversation' ? [fact.id] : []));
    const begun = recording.flatMap((one) => ('begin' in one ? [one.begin.conversation] : []));
    expect([begun, [...new Set(named)]]).toEqual([[null, named[0]], [named[0]]]);
  });
});
