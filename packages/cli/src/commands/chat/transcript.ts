// A conversation as its events come: what may still change is open, what cannot is settled and goes to the terminal's own
// scrollback, once and in order. Pure; what it remembers is bounded.

import type { ContextUse, InteractionAsk, OrreryEvent, PlanEntry, TurnView } from '@orrery/protocol';

type Body = OrreryEvent['body'];
type Of<Kind extends Body['kind']> = Extract<Body, { kind: Kind }>;

export type Item =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'text' | 'thinking'; readonly row: string; readonly text: string; readonly again: boolean }
  | {
      readonly kind: 'tool';
      readonly row: string;
      readonly tool: string;
      readonly input: string;
      /** It is a sub-agent's. */
      readonly inner: boolean;
      readonly result: { readonly output: string; readonly bytes: number; readonly failed: boolean } | null;
    }
  /** A sub-agent, or a command that goes on beside the turn. */
  | {
      readonly kind: 'work';
      readonly row: string;
      readonly name: string;
      readonly state: Of<'agent'>['state'];
      readonly text: string;
    }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  /** One that was folded, whole. */
  | { readonly kind: 'whole'; readonly item: Item }
  | { readonly kind: 'asking'; readonly ask: InteractionAsk }
  | { readonly kind: 'answered'; readonly ask: InteractionAsk | null; readonly outcome: string; readonly by: string | null }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  | { readonly kind: 'turn'; readonly turn: number | null; readonly ended: Of<'turn.ended'>; readonly facts: TurnFacts }
  | { readonly kind: 'local'; readonly lines: readonly string[] };

/** What a turn used and how long it took. */
export type TurnFacts = { readonly startedAt: string | null; readonly endedAt: string; readonly usage: Usage | null };
export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly cachedTokens: number };

export type Transcript = {
  /** The newest event that was taken. */
  readonly sequence: number;
  /** Rows that may still change, oldest first. */
  readonly open: readonly Item[];
  /** Newest first: what folded items were, to be shown whole. */
  readonly folded: readonly Item[];
  /** Rows that were settled lately: a revision of one is shown as what it adds. */
  readonly settled: ReadonlyMap<string, string>;
  readonly asked: ReadonlyMap<string, InteractionAsk>;
  readonly startedAt: string | null;
  readonly usage: Usage | null;
  /** The plan that is worked on, and whether it was changed in this turn. */
  readonly plan: { readonly entries: readonly PlanEntry[]; readonly changed: boolean };
  readonly context: ContextUse | null;
  /** The model as the program named it. */
  readonly model: string | null;
};

/** Bounds of what is remembered. */
export const transcriptLimits = {
  /** Rows that are open at once; then the oldest is settled as it is. */
  openRows: 64,
  foldedItems: 50,
  settledRows: 200,
  askedItems: 100,
} as const;

export const emptyTranscript = (sequence: number): Transcript => ({
  sequence,
  open: [],
  folded: [],
  settled: new Map(),
  asked: new Map(),
  startedAt: null,
  usage: null,
  plan: { entries: [], changed: false },
  context: null,
  model: null,
});

export type Taken = { readonly transcript: Transcript; readonly settled: readonly Item[] };

/** Takes one event; one that was taken before changes nothing. Kinds that it does not know are passed over. */
export const take = (before: Transcript, event: OrreryEvent): Taken => {
  const { sequence } = event;
  if (sequence === null || sequence <= before.sequence) return { transcript: before, settled: [] };
  return settle(apply({ ...before, sequence }, event), closes(event.body));
};

type Closes = 'all' | 'texts' | 'none';

const closes = ({ kind }: Body): Closes => {
  if (kind === 'turn.ended') return 'all';
  return ['usage', 'context', 'plan', 'turn.dispatched', 'queue.changed'].includes(kind) ? 'none' : 'texts';
};

const isOpen = (item: Item, last: boolean, by: Closes): boolean => {
  if (by === 'all') return false;
  if (item.kind === 'tool') return item.result === null;
  if (item.kind === 'work') return item.state === 'running';
  return (item.kind === 'text' || item.kind === 'thinking') && last;
};

/** Everything before the first row that is still open leaves, and more when too much is open. */
const settle = (transcript: Transcript, by: Closes): Taken => {
  const { open } = transcript;
  const first = open.findIndex((item, place) => isOpen(item, place === open.length - 1, by));
  const count = Math.max(first === -1 ? open.length : first, open.length - transcriptLimits.openRows);
  if (count === 0) return { transcript, settled: [] };
  const gone = open.slice(0, count);
  const settled = new Map(transcript.settled);
  for (const item of gone) {
    if (!('row' in item)) continue;
    settled.delete(rowKey(item));
    settled.set(rowKey(item), item.kind === 'tool' ? (item.result?.output ?? '') : item.text);
  }
  const kept = [...settled].slice(-transcriptLimits.settledRows);
  const folded = gone.filter(({ kind }) => kind === 'tool' || kind === 'thinking').toReversed();
  return {
    transcript: {
      ...transcript,
      open: open.slice(count),
      settled: new Map(kept),
      folded: [...folded, ...transcript.folded].slice(0, transcriptLimits.foldedItems),
    },
    settled: gone,
  };
};

const rowKey = ({ kind, row }: { readonly kind: string; readonly row: string }): string => `${kind} ${row}`;

const add = (transcript: Transcript, item: Item): Transcript => ({ ...transcript, open: [...transcript.open, item] });

const apply = (transcript: Transcript, { body, at, turn }: OrreryEvent): Transcript => {
  switch (body.kind) {
    case 'user':
      return add(transcript, { kind: 'user', text: body.text });
    case 'turn.started':
      return { ...transcript, startedAt: at, model: body.model ?? transcript.model };
    case 'text':
    case 'thinking':
      return said(transcript, body);
    case 'tool.call':
      return called(transcript, body);
    case 'tool.result':
      return answered(transcript, body);
    case 'usage':
      return { ...transcript, usage: body };
    case 'turn.ended':
      return {
        ...add(withPlan(transcript), {
          kind: 'turn',
          turn,
          ended: body,
          facts: { startedAt: transcript.startedAt, endedAt: at, usage: transcript.usage },
        }),
        startedAt: null,
        usage: null,
      };
    default:
      return content(transcript, body);
  }
};

/** At the end of a turn a plan that was changed in it is written down. */
const withPlan = (transcript: Transcript): Transcript =>
  transcript.plan.changed
    ? {
        ...add(transcript, { kind: 'plan', entries: transcript.plan.entries }),
        plan: { ...transcript.plan, changed: false },
      }
    : transcript;

const content = (transcript: Transcript, body: Body): Transcript => {
  switch (body.kind) {
    case 'plan':
      return { ...transcript, plan: { entries: body.entries, changed: true } };
    case 'context':
      return { ...transcript, context: body };
    case 'compacted':
      return add(transcript, { kind: 'notice', level: 'info', text: 'What was said so far was summed up.' });
    case 'agent':
    case 'background':
      return worked(transcript, body);
    default:
      return remark(transcript, body);
  }
};

const worked = (transcript: Transcript, { kind, row, name, state, summary }: Of<'agent'> | Of<'background'>): Transcript => {
  const what = `${kind === 'agent' ? 'sub-agent' : 'background'} ${name}`;
  const item: Item = { kind: 'work', row, name: what, state, text: summary ?? '' };
  const known = transcript.settled.get(rowKey({ kind: 'work', row })) === (summary ?? '') && state === 'running';
  return replaceRow(transcript, { kind: 'work', row }, () => item) ?? (known ? transcript : add(transcript, item));
};

const remark = (transcript: Transcript, body: Body): Transcript => {
  switch (body.kind) {
    case 'notice':
      return add(transcript, { kind: 'notice', level: body.level, text: body.text });
    case 'turn.parked':
      return add(transcript, { kind: 'notice', level: 'warning', text: `An input is uncertain. ${body.reason}` });
    case 'state':
      return body.state === 'failed' || body.state === 'ended'
        ? add(transcript, {
            kind: 'notice',
            level: body.state === 'failed' ? 'error' : 'info',
            text: `The session ${body.state}. ${body.reason ?? ''}`.trim(),
          })
        : transcript;
    case 'interaction.opened': {
      const asked = [...transcript.asked, [body.interactionId, body.ask] as const].slice(-transcriptLimits.askedItems);
      return { ...transcript, asked: new Map(asked) };
    }
    case 'interaction.settled':
      return add(transcript, {
        kind: 'answered',
        ask: transcript.asked.get(body.interactionId) ?? null,
        outcome: body.outcome,
        by: body.by,
      });
    default:
      return transcript;
  }
};

type Row = { readonly row: string; readonly kind: 'text' | 'thinking' | 'tool' | 'work' };

const replaceRow = (transcript: Transcript, { row, kind }: Row, change: (item: Item) => Item): Transcript | null => {
  const place = transcript.open.findLastIndex((item) => 'row' in item && item.row === row && item.kind === kind);
  if (place === -1) return null;
  return { ...transcript, open: transcript.open.map((item, index) => (index === place ? change(item) : item)) };
};

const said = (transcript: Transcript, { kind, row, text, agent }: Of<'text'> | Of<'thinking'>): Transcript => {
  // What a sub-agent says is told by what it came to.
  if (agent !== undefined) return transcript;
  const revised = replaceRow(transcript, { kind, row }, (item) => ({ kind, row, text, again: 'again' in item && item.again }));
  if (revised !== null) return revised;
  const before = transcript.settled.get(rowKey({ kind, row }));
  if (before === undefined) return add(transcript, { kind, row, text, again: false });
  // It is on the screen already: only what is new follows, or all of it when it was changed.
  if (before === text) return transcript;
  return text.startsWith(before)
    ? add(transcript, { kind, row, text: text.slice(before.length), again: false })
    : add(transcript, { kind, row, text, again: true });
};

const called = (transcript: Transcript, { row, tool, input, agent }: Of<'tool.call'>): Transcript =>
  replaceRow(transcript, { kind: 'tool', row }, (item) => ({
    kind: 'tool',
    row,
    tool,
    input,
    inner: agent !== undefined,
    result: item.kind === 'tool' ? item.result : null,
  })) ??
  (transcript.settled.has(rowKey({ kind: 'tool', row }))
    ? transcript
    : add(transcript, { kind: 'tool', row, tool, input, inner: agent !== undefined, result: null }));

const answered = (transcript: Transcript, body: Of<'tool.result'>): Transcript => {
  const { row } = body;
  const result = { output: body.output, bytes: body.outputBytes, failed: body.failed };
  const revised = replaceRow(transcript, { kind: 'tool', row }, (item) => (item.kind === 'tool' ? { ...item, result } : item));
  if (revised !== null) return revised;
  if (transcript.settled.get(rowKey({ kind: 'tool', row })) === body.output) return transcript;
  return add(transcript, { kind: 'tool', row, tool: body.tool ?? 'tool', input: '', inner: body.agent !== undefined, result });
};

/** What waits in a queue, in its order, and what a person has to decide. */
export const waitingOf = (turns: readonly TurnView[]): TurnView[] =>
  turns.filter(({ state }) => state === 'pending' || state === 'uncertain');
