// What happens in conversations with every program: the same for each of them, recorded and tried with the real ones.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversationBody, InteractionOutcome } from '@orrery/protocol';
import type { SessionFact } from '../src/harness/dialogue.ts';
import type { Harness } from '../src/harness/harness.ts';
import { adapterOf } from './dialogue-script.ts';
import { speakWith, type Happened, type SpokenPlace, type SpokenProgram } from './spoken-program.ts';

/** One red dot, as a PNG. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LONG = Array.from({ length: 60 }, (_, at) => `word-${at} é☃😀`).join(' ');

/** Failures of a model call that programs are shown, by the name that the scripted model gives them. */
export const FAILURES = ['overloaded', 'rate_limit', 'auth', 'usage_limit', 'credit', 'too_long', 'cut', 'garbage'] as const;
export type FailureName = (typeof FAILURES)[number];

/** Those that go on asking a model for minutes without a word when it is busy or away: what has an end of its own is shown to them. */
const patient = new Set(['opencode', 'qwen']);

/** The failures that a program is shown, in their order. */
export const failuresOf = ({ id }: Pick<Harness, 'id'>): readonly FailureName[] =>
  patient.has(id) ? ['auth', 'credit', 'too_long'] : FAILURES;

const failing = (name: FailureName): object => {
  if (name === 'cut') return { text: 'half of this is lost', cut: 0.5, times: 'forever', on: 'any' };
  if (name === 'garbage') return { garbage: true, times: 'forever', on: 'any' };
  return { error: name, times: 'forever', on: 'any' };
};

/** How turns ended, by the program's own word; one that is doubted bears a question mark. */
export const wordsOf = (facts: readonly SessionFact[]): readonly string[] =>
  facts.flatMap((fact) => {
    if (fact.kind !== 'ended') return [];
    const { reported } = fact;
    if (reported?.kind === 'failure') return [reported.failure];
    return [reported?.kind === 'success' && reported.doubtful === true ? 'success?' : (reported?.kind ?? 'nothing')];
  });

type Ended = Extract<SessionFact, { kind: 'ended' }>;

/** Turns of one program, one after the other. */
const createTurns = (program: SpokenProgram, { model }: SpokenPlace) => {
  let turn = 0;
  const says = (
    steps: readonly object[],
    more: { images?: { mediaType: string; base64: string; path: string }[] } = {},
  ): void => {
    model.reset(steps);
    turn += 1;
    program.tell({ kind: 'prompt', turn, text: `Do it. MARKER-${turn}`, ...more });
  };
  return {
    says,
    ended: (): Promise<Ended> => program.fact('ended'),
    /** It asks, and is answered. */
    answers: async (outcome: InteractionOutcome, message: string | null = null): Promise<void> => {
      const { key } = await program.fact('asks');
      program.tell({ kind: 'answer', key, outcome, answers: null, message });
    },
    stops: async (): Promise<Ended> => {
      program.tell({ kind: 'interrupt' });
      return program.fact('ended');
    },
    asked: (): Promise<unknown> => program.fact('asks'),
    /** The model has its call. */
    called: async (): Promise<void> => {
      while (!model.log().some(({ call }) => (call?.tools.length ?? 0) > 0)) await new Promise((done) => setTimeout(done, 20));
    },
    seen: (kind: ConversationBody['kind']): Promise<void> =>
      program.since(kind, ({ events }) => events.some((event) => event.kind === kind)),
    writes: (): Promise<void> => program.since('text that is written', ({ live }) => live.some(({ kind }) => kind === 'text')),
  };
};

/** What a dialogue came to: the lines of each process, and how its turns ended. */
export type Held = {
  readonly happened: readonly Happened[];
  readonly ended: readonly Ended[];
  readonly events: readonly ConversationBody[];
};

type Scenario = (harness: Harness, place: SpokenPlace) => Promise<Held>;

const begin = async (harness: Harness, place: SpokenPlace, more: object = {}) => {
  const { modes } = adapterOf(harness).capabilities;
  const program = speakWith(harness, place, { mode: modes.includes('ask') ? 'ask' : 'all', ...more });
  await program.fact('ready');
  return { program, asks: modes.includes('ask'), turns: createTurns(program, place) };
};

const heldBy = async (program: SpokenProgram, ended: readonly Ended[]): Promise<Held> => {
  await program.close();
  return { happened: program.happened, ended, events: program.events() };
};

/** A turn with thinking and a tool that is allowed, one that is denied, one to which nobody says anything, and an image. */
const talk: Scenario = async (harness, place) => {
  const { program, asks, turns } = await begin(harness, place);
  const ended: Ended[] = [];
  turns.says([
    { thinking: 'The file is missing, é☃.', text: 'I make it.', shell: 'echo one > one.txt; cat one.txt' },
    { text: 'It is there: é☃😀.', usage: { input: 300, output: 40, cached: 10 } },
  ]);
  if (asks) await turns.answers('approved');
  ended.push(await turns.ended());
  for (const [outcome, message] of [
    ['denied', 'not today'],
    ['timed-out', 'Nobody answered in time.'],
  ] as const) {
    if (!asks) break;
    turns.says([{ shell: `echo ${outcome} > ${outcome}.txt` }, { text: 'Then not.' }]);
    await turns.answers(outcome, message);
    ended.push(await turns.ended());
  }
  const path = join(place.home, 'dot.png');
  writeFileSync(path, Buffer.from(DOT, 'base64'));
  turns.says([{ text: 'A red dot.' }], { images: [{ mediaType: 'image/png', base64: DOT, path }] });
  ended.push(await turns.ended());
  return heldBy(program, ended);
};

/** It is stopped before it said anything, while its model is silent, while text is written, while it asks, and in a tool; then it goes on. */
const stops: Scenario = async (harness, place) => {
  const { program, asks, turns } = await begin(harness, place);
  const ended: Ended[] = [];
  const silent = [{ delay_ms: 600_000, text: 'never' }];
  turns.says(silent);
  ended.push(await turns.stops());
  turns.says(silent);
  await turns.called();
  ended.push(await turns.stops());
  turns.says([{ text: LONG, chunk_ms: 100 }]);
  await turns.writes();
  ended.push(await turns.stops());
  if (asks) {
    turns.says([{ shell: 'echo asked > asked.txt' }, { text: 'never' }]);
    await turns.asked();
    ended.push(await turns.stops());
  }
  turns.says([{ shell: 'touch begun; until [ -e never ]; do sleep 0.2; done' }, { text: 'never' }]);
  if (asks) await turns.answers('approved');
  await turns.seen('tool.call');
  ended.push(await turns.stops());
  turns.says([{ text: 'Another turn.' }]);
  ended.push(await turns.ended());
  return heldBy(program, ended);
};

/** Its model calls fail, each turn in another way; in the end one succeeds. */
const fails: Scenario = async (harness, place) => {
  const { program, turns } = await begin(harness, place);
  const ended: Ended[] = [];
  for (const name of failuresOf(harness)) {
    turns.says([failing(name)]);
    ended.push(await turns.ended());
  }
  turns.says([{ text: 'All is well.' }]);
  ended.push(await turns.ended());
  return heldBy(program, ended);
};

/** Two processes with one conversation. */
const resumes: Scenario = async (harness, place) => {
  const first = await begin(harness, place);
  first.turns.says([{ text: 'First.' }]);
  const one = await first.turns.ended();
  const told = first.program.happened;
  const conversation = conversationOf(first.program);
  await first.program.close();
  const wait = adapterOf(harness).takesUpFrom?.(Date.now()) ?? 0;
  await new Promise((done) => setTimeout(done, Math.max(0, wait - Date.now())));
  const next = await begin(harness, place, { conversation });
  next.turns.says([{ text: 'Second.' }]);
  const held = await heldBy(next.program, [one, await next.turns.ended()]);
  return { ...held, happened: [...told, ...held.happened], events: [...first.program.events(), ...held.events] };
};

const conversationOf = (program: SpokenProgram): string => {
  const started = program.events().find((event) => event.kind === 'turn.started');
  if (started?.kind !== 'turn.started' || started.conversation === null) throw new Error('no conversation was named');
  return started.conversation;
};

/** Words into a turn that runs, of a program that takes them. */
const steers: Scenario = async (harness, place) => {
  const { program, asks, turns } = await begin(harness, place);
  const go = join(place.work, 'go');
  turns.says([{ shell: 'touch begun; until [ -e go ]; do sleep 0.1; done' }, { text: 'I heard it.' }]);
  if (asks) await turns.answers('approved');
  await turns.seen('tool.call');
  program.tell({ kind: 'steer', key: 'k1', text: 'Leave the docs alone.' });
  writeFileSync(go, '');
  return heldBy(program, [await turns.ended()]);
};

/** The dialogues, by name. */
export const sessionScenarios: Readonly<Record<string, Scenario>> = { talk, stops, fails, resumes, steers };

/** Which of them there are of a program. */
export const scenariosOf = (harness: Harness): readonly string[] =>
  Object.keys(sessionScenarios).filter((name) => name !== 'steers' || adapterOf(harness).capabilities.steer);
