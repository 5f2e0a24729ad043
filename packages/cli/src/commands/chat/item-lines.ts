// What a person sees of one item of a conversation: lines of at most the width, with a gutter that no program can write in.

import type { PlanEntry } from '@orrery/protocol';
import { bytesText, durationText, tokensText } from '../../wording.ts';
import { exactLines } from './ask-lines.ts';
import { cutCells, visible, visibleOutput, wrapCells } from './cells.ts';
import { diffLines, diffOf, jsonObject } from './diff-lines.ts';
import type { Look } from './look.ts';
import type { Item } from './transcript.ts';

/** Lines of a tool's output, of a change and of what was thought that are shown folded. */
const FOLDED = { output: 4, change: 12, failed: 8 } as const;

const indented = (text: string, columns: number, gutter = '  '): string[] =>
  wrapCells(text, Math.max(8, columns - gutter.length)).map((line) => `${gutter}${line}`.trimEnd());

/** The lines of one item. */
export const itemLines = (item: Item, look: Look): string[] => {
  const { screen, columns } = look;
  switch (item.kind) {
    case 'user': {
      const [first = '', ...rest] = wrapCells(visible(item.text.trimEnd()), Math.max(8, columns - 2));
      return ['', screen.bold(`> ${first}`), ...rest.map((line) => screen.bold(`  ${line}`))];
    }
    case 'text': {
      const text = visible(item.text).trim();
      if (text === '') return [];
      return ['', ...(item.again ? [screen.dim('  (changed)')] : []), ...indented(text, columns)];
    }
    case 'thinking':
      return thinkingLines(visible(item.text).trim(), look);
    case 'tool':
      return toolLines(item, look);
    case 'work':
      return workLines(item, look);
    case 'plan':
      return ['', ...planLines(item.entries, look)];
    case 'whole':
      return itemLines(item.item, { ...look, whole: true });
    case 'asking':
      return ['', screen.dim('  asked:'), ...exactLines(item.ask, look)];
    case 'answered':
      return answeredLines(item, look);
    case 'notice':
      return noticeLines(item, look);
    case 'turn':
      return turnLines(item, look);
    case 'local':
      return [...item.lines];
  }
};

const thinkingLines = (text: string, { screen, columns, whole }: Look): string[] => {
  if (text === '') return [];
  const lines = wrapCells(text, Math.max(8, columns - 4));
  if (whole === true) return ['', screen.dim('  thinking'), ...lines.map((line) => screen.dim(`    ${line}`))];
  const more = lines.length > 1 ? ` … ${lines.length - 1} more` : '';
  const first = cutCells(lines[0] ?? '', Math.max(8, columns - 13 - more.length));
  return ['', screen.dim(`  thinking: ${first}${more}`)];
};

/** The one thing of a tool's input that says what it does. */
const SAYING = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt'];

const inputText = (input: string): string => {
  const value = jsonObject(input);
  if (value === null) return input;
  const name = SAYING.find((key) => typeof value[key] === 'string' || Array.isArray(value[key]));
  if (name === undefined) return Object.keys(value).length === 0 ? '' : input;
  const said = value[name];
  return Array.isArray(said) ? said.join(' ') : String(said);
};

const workLines = ({ name, state, text }: Extract<Item, { kind: 'work' }>, { screen, columns }: Look): string[] => {
  const mark = state === 'completed' ? screen.good('✓') : state === 'running' ? ' ' : screen.careful('!');
  const summary = visible(text).replace(/\s+/g, ' ').trim();
  return [
    '',
    `${mark} ${cutCells(`${visible(name).replace(/\s+/g, ' ')}: ${state}${summary === '' ? '' : `. ${summary}`}`, columns - 2)}`,
  ];
};

const STEPS = { done: '[x]', active: '[>]', pending: '[ ]' } as const;

/** A plan as a list that is ticked off; readable without colours. */
export const planLines = (entries: readonly PlanEntry[], { screen, columns }: Look): string[] =>
  entries.map(({ text, status }) => {
    const line = `    ${STEPS[status]} ${cutCells(visible(text).replace(/\s+/g, ' '), columns - 8)}`;
    return status === 'done' ? screen.dim(line) : status === 'active' ? screen.bold(line) : line;
  });

type Tool = Extract<Item, { kind: 'tool' }>;

const toolLines = (item: Tool, look: Look): string[] => {
  const { screen, columns, whole } = look;
  const name = cutCells(visible(item.tool).replaceAll('\n', ' '), 24);
  const command = visible(inputText(item.input)).trim();
  const room = Math.max(8, columns - 4 - name.length - 2);
  const shown = whole === true ? wrapCells(command, room) : [cutCells(command.replace(/\s*\n\s*/g, ' ⏎ '), room)];
  const mark = item.result?.failed === true ? screen.bad('✗') : ' ';
  const arrow = item.inner ? '  →' : '→';
  const head = shown.map((line, place) =>
    place === 0 ? `${mark} ${arrow} ${screen.bold(name)}  ${line}`.trimEnd() : `${' '.repeat(name.length + 6)}${line}`,
  );
  const change = diffOf(item.input);
  const lines = change === null ? [] : diffLines(change, { ...look, most: whole === true ? 2_000 : FOLDED.change });
  return ['', ...head, ...lines, ...resultLines(item, look, change !== null)];
};

const resultLines = ({ result }: Tool, { screen, columns, whole }: Look, changed: boolean): string[] => {
  if (result === null) return [];
  if (changed && !result.failed && whole !== true) return [];
  const text = visibleOutput(result.output).trimEnd();
  if (text === '') return result.failed ? [screen.dim('    │ (no output)')] : [];
  const all = text.split('\n');
  const most = whole === true ? all.length : result.failed ? FOLDED.failed : FOLDED.output;
  const left = all.length - most;
  const width = Math.max(8, columns - 6);
  const rows = all.slice(-most).flatMap((line) => (whole === true ? wrapCells(line, width) : [cutCells(line, width)]));
  const stored = new TextEncoder().encode(result.output).length;
  const note =
    result.bytes > stored
      ? `${bytesText(result.bytes)} of output, the log has ${bytesText(stored)} of it`
      : left > 0
        ? `${left} more ${left === 1 ? 'line' : 'lines'}: Ctrl-O`
        : '';
  return [
    ...(note === '' ? [] : [screen.dim(`    │ … ${note}`)]),
    ...rows.map((line) => `    ${screen.dim('│')} ${line}`.trimEnd()),
  ];
};

const OUTCOMES: Readonly<Record<string, string>> = {
  approved: 'allowed once',
  'approved-for-session': 'allowed for this session',
  denied: 'denied',
  answered: 'answered',
  'timed-out': 'nobody answered in time: it does not happen',
  withdrawn: 'not asked any more',
};

const answeredLines = ({ ask, outcome, by }: Extract<Item, { kind: 'answered' }>, { screen, columns }: Look): string[] => {
  // What nobody was asked about is no news.
  if (by?.startsWith('mode ') === true)
    return [screen.dim(`    ${cutCells(`${OUTCOMES[outcome] ?? outcome} by ${visible(by)}`, columns - 4)}`)];
  const good = outcome.startsWith('approved') || outcome === 'answered';
  const mark = good ? screen.good('✓') : screen.careful('!');
  const about = ask === null ? '' : `: ${visible(ask.command ?? ask.title).replace(/\s+/g, ' ')}`;
  const who = by === null ? '' : ` by ${visible(by)}`;
  return [`${mark} ${cutCells(`${OUTCOMES[outcome] ?? outcome}${who}${about}`, columns - 2)}`];
};

const noticeLines = ({ level, text }: Extract<Item, { kind: 'notice' }>, { screen, columns }: Look): string[] => {
  const mark = level === 'info' ? ' ' : level === 'error' ? screen.bad('✗') : screen.careful('!');
  return indented(visible(text).trim(), columns).map((line, place) => (place === 0 ? `${mark} ${line.slice(2)}` : line));
};

const turnLines = ({ turn, ended, facts }: Extract<Item, { kind: 'turn' }>, { screen, columns }: Look): string[] => {
  const tookMs = facts.startedAt === null ? null : Date.parse(facts.endedAt) - Date.parse(facts.startedAt);
  const parts = [
    turn === null ? '' : `turn ${turn}`,
    tookMs === null ? '' : durationText(tookMs),
    facts.usage === null
      ? ''
      : `${tokensText(facts.usage.inputTokens + facts.usage.cachedTokens)} in, ${tokensText(facts.usage.outputTokens)} out`,
  ].filter((part) => part !== '');
  const tail = screen.dim(cutCells(`  ${parts.join(' · ')}`, columns));
  if (ended.outcome === 'success') return ['', tail];
  const why = [
    ended.outcome === 'cancelled' ? 'stopped' : `the turn ended: ${ended.outcome}`,
    ended.failure ?? '',
    visible(ended.message ?? ''),
    ended.resetsAt === null ? '' : `until ${ended.resetsAt}`,
  ].filter((part) => part !== '');
  const [first = '', ...rest] = indented(why.join(': '), columns);
  return ['', `${screen.careful('!')} ${first.slice(2)}`, ...rest, tail];
};
