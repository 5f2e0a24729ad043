// How a chat changes: one message in, a new state, what to do and what to print out. Pure.

import type { InteractionView } from '@orrery/protocol';
import { emptyComposer, isEmpty, textOf, withText } from './composer.ts';
import type { KeyPress } from './keys.ts';
import { askKey } from './on-ask-key.ts';
import { queueKey } from './on-queue-key.ts';
import { writeKey } from './on-write-key.ts';
import { isLong } from './ask-lines.ts';
import { GUARD_MS, isArmed, isBusy, shownAsk, step, type ChatState, type Effect, type Message, type Step } from './state.ts';
import { take, waitingOf, type Item } from './transcript.ts';

export const update = (state: ChatState, message: Message): Step => {
  switch (message.kind) {
    case 'keys':
      return keys({ ...state, nowMs: Math.max(state.nowMs, message.atMs) }, message.keys);
    case 'events':
      return events({ ...state, live: message.live }, message.events);
    case 'older':
      return step({ ...state, oldest: message.oldest }, [], message.items);
    case 'facts':
      return facts(state, message);
    case 'sent':
      return sent(state, message);
    case 'said':
      return step(state, [], message.items);
    case 'ruled':
      return step({ ...state, rule: message.rule });
    case 'unanswered':
      return step(state.asked === null ? state : { ...state, asked: { ...state.asked, armedAtMs: state.nowMs + GUARD_MS } });
    case 'lost':
      return step({ ...state, lost: message.reason }, message.reason === null ? [{ kind: 'refresh' }] : []);
    case 'size':
      return step({ ...state, size: { columns: message.columns, rows: message.rows } });
    case 'tick':
      return tick(state, message.atMs);
  }
};

const tick = (state: ChatState, nowMs: number): Step =>
  step({ ...state, nowMs, hint: state.hint !== null && state.hint.untilMs <= nowMs ? null : state.hint });

/** Several steps, one behind the other. */
const after = (first: Step, next: (state: ChatState) => Step): Step => {
  const second = next(first.state);
  return step(second.state, [...first.effects, ...second.effects], [...first.print, ...second.print]);
};

const keys = (state: ChatState, pressed: readonly KeyPress[]): Step =>
  pressed.reduce((so, key) => after(so, (now) => onKey(now, key)), step(state));

/** Keys that mean the same everywhere come first; then those of what has the focus. */
const onKey = (state: ChatState, key: KeyPress): Step => {
  const armed = isArmed(state);
  // Each key before the question listens puts that off: who types something else has not read it.
  const guarded =
    armed || state.asked === null ? state : { ...state, asked: { ...state.asked, armedAtMs: state.nowMs + GUARD_MS } };
  if (key.kind === 'leave') return leave(guarded);
  const calm = { ...guarded, leavingUntilMs: 0 };
  if (calm.focus === 'queue') return queueKey(calm, key);
  if (armed) return askKey(calm, key);
  return writeKey(calm, key);
};

/** How long Ctrl-C is remembered. */
const LEAVING_MS = 3_000;

const leave = (state: ChatState): Step => {
  if (state.leavingUntilMs > state.nowMs) return step(state, [{ kind: 'leave' }]);
  const text = 'Ctrl-C again leaves; the session goes on. Esc stops the turn that runs.';
  const cleared = isEmpty(state.composer) ? state : { ...state, composer: withText(state.composer, '') };
  const kept: Effect[] = isEmpty(state.composer) ? [] : [{ kind: 'remember', text: textOf(state.composer) }];
  return step(
    {
      ...cleared,
      leavingUntilMs: state.nowMs + LEAVING_MS,
      hint: { text: kept.length === 0 ? text : `${text} What was written: key up.`, untilMs: state.nowMs + LEAVING_MS },
      past:
        kept.length === 0 ? state.past : { ...state.past, entries: [...state.past.entries, textOf(state.composer)], at: null },
    },
    kept,
  );
};

/** Kinds after which the queue, the questions or the state are others. */
const CHANGES: readonly string[] = [
  'user',
  'state',
  'turn.started',
  'turn.dispatched',
  'turn.parked',
  'queue.changed',
  'turn.ended',
  'interaction.opened',
  'interaction.settled',
];

const events = (state: ChatState, given: Extract<Message, { kind: 'events' }>['events']): Step => {
  const print: Item[] = [];
  let { transcript } = state;
  for (const event of given) {
    const taken = take(transcript, event);
    transcript = taken.transcript;
    print.push(...taken.settled);
  }
  const changed = given.some(({ body }) => CHANGES.includes(body.kind));
  return step({ ...state, transcript }, changed ? [{ kind: 'refresh' }] : [], print);
};

const sent = (state: ChatState, { key, turn }: Extract<Message, { kind: 'sent' }>): Step => {
  const known = turn === null || state.turns.some(({ id }) => id === turn.id) || turn.state !== 'pending';
  return step({
    ...state,
    sending: state.sending.filter((one) => one.key !== key),
    turns: known ? state.turns : [...state.turns, turn],
  });
};

const facts = (state: ChatState, { session, turns, asks, catalogue, atMs }: Extract<Message, { kind: 'facts' }>): Step => {
  const nowMs = Math.max(state.nowMs, atMs);
  const waiting = waitingOf(turns);
  const next: ChatState = {
    ...state,
    nowMs,
    session,
    turns: waiting,
    asks,
    catalogue: catalogue ?? state.catalogue,
    queueAt: Math.max(0, Math.min(state.queueAt, waiting.length - 1)),
    focus: state.focus === 'queue' && waiting.length === 0 ? 'write' : state.focus,
  };
  const shown = showAsk({ ...next, stopping: next.stopping && isBusy(next) }, asks[0] ?? null, nowMs);
  const first = shown.asked !== state.asked && shown.asked !== null ? shownAsk(shown) : null;
  // What does not fit beside the composer is in the scrollback, whole, before anybody can say yes to it.
  return step(shown, [], first !== null && isLong(first.ask) ? [{ kind: 'asking', ask: first.ask }] : []);
};

/** Shows the oldest question. A new one, or one that was changed, listens only after a while. */
const showAsk = (state: ChatState, ask: InteractionView | null, nowMs: number): ChatState => {
  const { asked, purpose } = state;
  const isSame = ask !== null && asked !== null && asked.id === ask.id && asked.revision === ask.revision;
  if (isSame || (ask === null && asked === null)) return state;
  // Words for a question that is gone are kept as what is being written.
  const stale = (purpose.kind === 'deny' || purpose.kind === 'answer') && purpose.interaction !== ask?.id;
  const calm: ChatState = stale
    ? {
        ...state,
        purpose: { kind: 'prompt' },
        composer: isEmpty(state.composer) ? state.draft : state.composer,
        draft: emptyComposer,
      }
    : state;
  if (ask === null) return { ...calm, asked: null, choice: 0, given: {}, focus: calm.focus === 'answer' ? 'write' : calm.focus };
  const free = isEmpty(calm.composer) && calm.purpose.kind === 'prompt' && calm.focus !== 'queue';
  return {
    ...calm,
    asked: { id: ask.id, revision: ask.revision, armedAtMs: nowMs + GUARD_MS },
    choice: 0,
    given: {},
    focus: free ? 'answer' : calm.focus === 'answer' ? 'write' : calm.focus,
  };
};
