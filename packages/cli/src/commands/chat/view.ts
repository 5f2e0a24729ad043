// What stands below the scrollback: what is open, the question, the queue, the text that is being written, the state. Pure.

import { countText, durationText, tokensText } from '../../wording.ts';
import type { Screen } from '../../screen.ts';
import { askLines, ruleOf } from './ask-lines.ts';
import { cutCells, visible, wrapCells } from './cells.ts';
import { aroundCursor, composerRows } from './composer-lines.ts';
import { isEmpty } from './composer.ts';
import { itemLines, planLines } from './item-lines.ts';
import type { Look } from './look.ts';
import { completionsOf } from './slash.ts';
import { questionNow } from './questions.ts';
import { isArmed, isBusy, shownAsk, written, type ChatState } from './state.ts';
import type { Item } from './transcript.ts';

/** Lines of at most the width, and where the cursor stands in them. */
export type View = { readonly lines: readonly string[]; readonly cursor: { readonly x: number; readonly y: number } };

const QUEUE_LINES = 4;
const PLAN_LINES = 5;
const COMPLETION_LINES = 6;
/** Of a text that is being written, so much of its end is laid out. */
const LIVE_CHARS = 8_000;

export const lookOf = (state: ChatState, screen: Screen): Look => ({ screen, columns: state.size.columns, whole: state.whole });

/** Lines of settled items, for the scrollback. */
export const scrollbackLines = (state: ChatState, items: readonly Item[], screen: Screen): string[] =>
  items.flatMap((item) => itemLines(item, lookOf(state, screen)));

export const viewOf = (state: ChatState, screen: Screen): View => {
  const look = lookOf(state, screen);
  // The last row of the terminal stays free: a frame as high as the terminal would have to clear it.
  const room = Math.max(6, state.size.rows - 1);
  const composer = writing(state, look, Math.max(1, Math.min(8, Math.floor(room / 3))));
  const foot = [...hintLines(state, look), ...completionLines(state, look)];
  const status = statusLine(state, look);
  const middle = [...panel(state, look), ...planInWork(state, look), ...queueLines(state, look)];
  const free = room - composer.lines.length - foot.length - 2;
  const shownMiddle = middle.slice(0, Math.max(0, free));
  const live = liveLines(state, { ...look, whole: false }, Math.max(0, free - shownMiddle.length - 1));
  const above = [...live, '', ...shownMiddle, ...foot];
  return {
    lines: [...above, ...composer.lines, status],
    cursor: { x: composer.cursor.x, y: composer.cursor.y + above.length },
  };
};

/** What may still change, and what is being written in it. */
const openItems = ({ transcript, live }: ChatState): Item[] => {
  const outputs = new Map(live.filter(({ kind }) => kind === 'tool.result').map(({ row, text }) => [row, text] as const));
  const open = transcript.open.map((item): Item => {
    const output = item.kind === 'tool' && item.result === null ? outputs.get(item.row) : undefined;
    if (item.kind !== 'tool' || output === undefined) return item;
    return { ...item, result: { output: output.slice(-LIVE_CHARS), bytes: 0, failed: false } };
  });
  const written = live.flatMap(({ kind, row, text }): Item[] =>
    kind === 'tool.result' ? [] : [{ kind, row, text, again: false }],
  );
  return [...open, ...written];
};

/** The end of all that. */
const liveLines = (state: ChatState, look: Look, most: number): string[] => {
  const lines = openItems(state).flatMap((item) =>
    itemLines('text' in item ? { ...item, text: item.text.slice(-LIVE_CHARS) } : item, look),
  );
  return most === 0 ? [] : lines.slice(-most);
};

const panel = (state: ChatState, look: Look): string[] => {
  const view = shownAsk(state);
  if (view === null) return [];
  const shown = {
    view,
    armed: isArmed(state),
    focused: state.focus === 'answer',
    choice: state.choice,
    writing: state.purpose.kind === 'deny' || state.purpose.kind === 'answer' ? state.purpose.kind : null,
    question: questionNow(state, view),
    others: state.asks.length - 1,
    ruled: ruleOf(state, view) !== null,
    nowMs: state.nowMs,
  };
  return [...askLines(shown, look), ''];
};

/** The plan while it is worked on: what is done lately, what is done now, what comes. */
const planInWork = (state: ChatState, look: Look): string[] => {
  const { entries, changed } = state.transcript.plan;
  if (!changed || !isBusy(state)) return [];
  const active = entries.findIndex(({ status }) => status !== 'done');
  const from = Math.max(0, Math.min(active === -1 ? entries.length : active - 1, entries.length - PLAN_LINES));
  const left = entries.length - from - PLAN_LINES;
  return [
    ...planLines(entries.slice(from, from + PLAN_LINES), look),
    ...(left > 0 ? [look.screen.dim(`    … ${left} more`)] : []),
    '',
  ];
};

const contextText = ({ session, transcript }: ChatState): string => {
  const context = transcript.context ?? session.context;
  if (context === null) return '';
  const { usedTokens, windowTokens } = context;
  return windowTokens === null || windowTokens === 0
    ? `${tokensText(usedTokens)} of context`
    : `${Math.round((usedTokens / windowTokens) * 100)}% of ${tokensText(windowTokens)}`;
};

const queueLines = (state: ChatState, { screen, columns }: Look): string[] => {
  const focused = state.focus === 'queue';
  const from = focused ? Math.max(0, Math.min(state.queueAt - 1, state.turns.length - QUEUE_LINES)) : 0;
  const rows = state.turns.slice(from, from + QUEUE_LINES).map((turn, place) => {
    const chosen = focused && from + place === state.queueAt;
    const uncertain = turn.state === 'uncertain';
    const word = uncertain ? 'uncertain' : turn.kind === 'steer' ? 'steers' : 'waits';
    const text = cutCells(visible(turn.text).replace(/\s+/g, ' '), columns - word.length - 6);
    const mark = uncertain ? screen.careful('!') : chosen ? '›' : ' ';
    return chosen ? `${mark} ${screen.bold(`${word}  ${text}`)}` : `${mark} ${screen.dim(word)}  ${text}`;
  });
  const left = state.turns.length - from - rows.length;
  const sending = state.sending.map(
    (one) => `  ${screen.dim(cutCells(`sending  ${visible(written(one.text, one)).replace(/\s+/g, ' ')}`, columns - 2))}`,
  );
  const parked = state.turns[focused ? state.queueAt : 0]?.state === 'uncertain';
  const help = parked
    ? 'r send again (it may have had it) · x let it be'
    : 'e edit · x take back · [ earlier · ] later · n now · Esc back';
  return [
    ...rows,
    ...(left > 0 ? [screen.dim(`  … ${left} more`)] : []),
    ...sending,
    ...(focused ? wrapCells(help, columns - 2).map((line) => screen.dim(`  ${line}`)) : []),
    ...(!focused && state.turns.some((turn) => turn.state === 'uncertain')
      ? wrapCells('Ctrl-Q: nobody knows whether it arrived; send it again, or let it be', columns - 2).map((line) => `  ${line}`)
      : []),
  ];
};

const hintLines = (state: ChatState, { screen, columns }: Look): string[] => [
  ...(state.lost === null
    ? []
    : wrapCells(state.lost, columns - 2).map((line, place) => `${place === 0 ? screen.careful('!') : ' '} ${line}`)),
  ...(state.hint === null ? [] : wrapCells(visible(state.hint.text), columns - 2).map((line) => screen.dim(`  ${line}`))),
];

const completionLines = (state: ChatState, { screen, columns }: Look): string[] => {
  const all = completionsOf(state);
  const from = Math.max(0, Math.min(state.completion - 2, all.length - COMPLETION_LINES));
  const width = Math.max(0, ...all.map(({ text }) => text.length));
  return all.slice(from, from + COMPLETION_LINES).map(({ text, about }, place) => {
    const line = cutCells(`${text.padEnd(width)}  ${about}`.trimEnd(), columns - 2);
    return from + place === state.completion ? screen.bold(`› ${line}`) : screen.dim(`  ${line}`);
  });
};

const PROMPTS = { prompt: '> ', deny: '✗ ', answer: '? ', edit: '~ ' } as const;
const EMPTY: Readonly<Record<ChatState['purpose']['kind'], string>> = {
  prompt: '',
  deny: 'Why not? Enter denies, Esc goes back',
  answer: 'Your answer; Esc goes back',
  edit: 'The input in other words; Esc goes back',
};

const writing = (state: ChatState, { screen, columns }: Look, most: number): View => {
  const { composer, purpose } = state;
  const { rows, cursor } = aroundCursor(composerRows(composer, Math.max(4, columns - 3)), most);
  const prompt = PROMPTS[purpose.kind];
  const empty = isEmpty(composer) ? screen.dim(cutCells(EMPTY[purpose.kind], columns - 3)) : '';
  return {
    lines: rows.map((row, place) => `${place === 0 ? prompt : '  '}${place === 0 && empty !== '' ? empty : row}`),
    cursor: { x: cursor.x + 2, y: cursor.y },
  };
};

const doing = (state: ChatState): string => {
  const { session, transcript, nowMs, stopping } = state;
  if (!isBusy(state)) return session.state === 'dormant' ? 'asleep; input wakes it' : session.state;
  const since =
    transcript.startedAt === null
      ? ''
      : ` ${durationText(Math.max(0, Math.floor((nowMs - Date.parse(transcript.startedAt)) / 1000) * 1000))}`;
  if (stopping) return `stopping${since}`;
  if (session.state === 'waiting') return 'waits for you';
  return session.state === 'starting' ? 'starting' : `running${since} · Esc stops`;
};

const statusLine = (state: ChatState, { screen, columns }: Look): string => {
  const { session, transcript } = state;
  const parts = [
    doing(state),
    state.turns.length === 0 ? '' : `${countText(state.turns.length, 'input')} ${state.turns.length === 1 ? 'waits' : 'wait'}`,
    visible(session.name),
    session.title === session.name ? '' : cutCells(visible(session.title).replaceAll('\n', ' '), 40),
    visible(session.harness),
    visible(session.model ?? transcript.model ?? ''),
    visible(session.effort ?? ''),
    `mode ${session.mode}`,
    contextText(state),
  ].filter((part) => part !== '');
  return screen.dim(`  ${cutCells(parts.join(' · ').replaceAll('\n', ' '), columns - 2)}`);
};
