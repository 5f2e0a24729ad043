// What an agent tells of its turn, as rows of the log. Pure.

import type { ConversationBody, PlanEntry } from '@orrery/protocol';
import { beginning, byteLength, clip } from '../clip.ts';
import { picturesIn } from '../pictures.ts';
import { boundedPlan } from '../content.ts';
import type { LivePiece } from '../dialogue.ts';
import { noticeOf } from '../frames.ts';
import { INLINE_BODY_BYTES, INLINE_TEXT_BYTES, MAX_OPEN_CALLS } from '../limits.ts';
import { blockText, inputText, outputText, pathsOf } from './content.ts';
import type { AcpPreset } from './preset.ts';
import { joined, without, type OpenCall, type State, type Step } from './state.ts';
import * as wire from './wire.ts';

const rowName = (now: State, name: number | string): string => `turn-${now.last}-${name}`;

/** The row of the text that was being told, once it is whole. */
export const flushed = (now: State, program: string): Step => {
  const { text } = now;
  if (text === null || text.text.trim() === '') return { state: { ...now, text: null } };
  const kept = byteLength(text.text);
  const shown = text.bytes > kept ? `${text.text}\n[cut: ${kept} of ${text.bytes} bytes shown]` : text.text;
  // Words before anything was asked are the program's own.
  if (now.last === 0) return { state: { ...now, text: null }, events: [noticeOf('info', `${program}: ${shown}`)] };
  const rows = now.rows + 1;
  return { state: { ...now, text: null, rows }, events: [{ kind: text.kind, row: rowName(now, rows), text: shown }] };
};

type Told = Pick<AcpPreset, 'program' | 'ownWords'>;

/** One update of the running turn. */
export const onUpdate = (
  now: State,
  update: { readonly sessionUpdate: string; readonly [name: string]: unknown },
  preset: Told,
): Step => {
  const { program } = preset;
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return onChunk(now, { kind: 'text', update, preset });
    case 'agent_thought_chunk':
      return onChunk(now, { kind: 'thinking', update, preset });
    case 'tool_call':
    case 'tool_call_update': {
      const call = wire.toolCall.safeParse(update).data;
      if (call === undefined) return { state: now, drift: `update ${update.sessionUpdate} of another shape` };
      const first = flushed(now, program);
      return joined(first, onCall(first.state, call));
    }
    case 'plan': {
      const first = flushed(now, program);
      return joined(first, { state: first.state, events: planRows(first.state, update) });
    }
    case 'notice':
      return { state: now, events: noticeRows(update, program) };
    case 'compaction_update':
      return { state: now, events: compactionRows(update, program) };
    case 'usage_update': {
      const use = wire.usageUpdate.safeParse(update).data;
      if (use === undefined) return { state: now };
      return { state: now, events: [{ kind: 'context', usedTokens: use.used, windowTokens: use.size || null }] };
    }
    // The prompt's echo, the summary of what was compacted, a title: the log has no use for them.
    case 'user_message_chunk':
    case 'compaction_summary_chunk':
    case 'session_info_update':
      return { state: now };
    default:
      return { state: now, drift: `update ${update.sessionUpdate}`.slice(0, 80) };
  }
};

/** Whether a character is cut between two texts. */
const isCut = (before: string, more: string): boolean => /[\uD800-\uDBFF]$/.test(before) && /^[\uDC00-\uDFFF]/.test(more);

const onChunk = (
  now: State,
  { kind, update, preset }: { readonly kind: 'text' | 'thinking'; readonly update: unknown; readonly preset: Told },
): Step => {
  const { data } = wire.chunk.safeParse(update);
  if (data === undefined) return { state: now, drift: 'piece of a message of another shape' };
  const counted = data._meta == null ? now : { ...now, usage: plus(now.usage, data._meta.usage) };
  const more = blockText(data.content);
  if (more === '') return { state: counted };
  if (preset.ownWords?.test(more) === true) {
    // What it says from here on is not what it said before.
    const first = flushed(counted, preset.program);
    return joined(first, { state: first.state, events: [noticeOf('warning', `${preset.program}: ${more}`)] });
  }
  // A model that thinks after it spoke has another row.
  const first = counted.text !== null && counted.text.kind !== kind ? flushed(counted, preset.program) : { state: counted };
  const before = first.state.text ?? { kind, text: '', bytes: 0 };
  // Half a character that JSON takes two for counts three bytes, and a whole one four.
  const bytes = before.bytes + byteLength(more) - (isCut(before.text, more) ? 2 : 0);
  const text = before.text + beginning(more, Math.max(0, INLINE_TEXT_BYTES - before.bytes));
  const next = { ...first.state, text: { kind, text, bytes } };
  return joined(first, { state: next, live: liveOf(next, { kind, more, begins: before.bytes === 0 }) });
};

/** The row as it is written: the one that it will have when it is whole. */
const liveOf = (
  now: State,
  { kind, more, begins }: { readonly kind: 'text' | 'thinking'; readonly more: string; readonly begins: boolean },
): readonly LivePiece[] => {
  if (now.last === 0) return [];
  const row = rowName(now, now.rows + 1);
  return [begins ? { kind, row, text: more } : { kind, row, append: more }];
};

type Tokens = { readonly inputTokens: number; readonly outputTokens: number; readonly cachedReadTokens?: number | undefined };

const plus = (usage: State['usage'], { inputTokens, outputTokens, cachedReadTokens = 0 }: Tokens): State['usage'] => ({
  input: usage.input + inputTokens,
  output: usage.output + outputTokens,
  cached: usage.cached + cachedReadTokens,
});

/** Its own name of the tool, where it has one: a title is often the tool's name first, and then what it does. */
const toolOf = ({ name, _meta, title, kind }: wire.ToolCall): string =>
  name ?? _meta?.toolName ?? (title != null && /^[\w.:-]+$/.test(title) ? title : null) ?? kind ?? 'tool';

/** A call that began, went on or ended. */
export const onCall = (now: State, call: wire.ToolCall): Step => {
  const { toolCallId: row } = call;
  const over = call.status === 'completed' || call.status === 'failed';
  const known = now.calls[row] ?? null;
  const input = over && known?.told === true ? known.input : clip(inputOf(call, known), INLINE_BODY_BYTES);
  const output = outputText(call);
  const open: OpenCall = {
    tool: known?.tool ?? toolOf(call),
    input,
    // What is still being made ready is told when it is whole.
    told: known?.told === true || call.status !== 'pending' || isWhole(call),
    output: output === null ? (known?.output ?? '') : clip(output, INLINE_BODY_BYTES),
    outputBytes: output === null ? (known?.outputBytes ?? 0) : byteLength(output),
    paths: [...new Set([...(known?.paths ?? []), ...pathsOf(call)])].slice(0, MAX_OPEN_CALLS),
  };
  const isNews = open.told && (known?.told !== true || input !== known.input);
  const events: ConversationBody[] = isNews ? [{ kind: 'tool.call', row, tool: open.tool, input }] : [];
  if (!over) return { state: { ...now, calls: bounded({ ...now.calls, [row]: open }) }, events };
  const { tool, outputBytes } = open;
  const result = { kind: 'tool.result', row, tool, output: open.output, outputBytes, failed: call.status === 'failed' } as const;
  // Those of the last word alone: what is remembered of a call holds none.
  const pictures = picturesIn((call.content ?? []).flatMap((part) => (part.type === 'content' ? [part.content] : [])));
  return { state: { ...now, calls: without(now.calls, row) }, events: [...events, { ...result, ...pictures }] };
};

const hasInput = ({ rawInput }: wire.ToolCall): boolean =>
  rawInput !== undefined && rawInput !== null && rawInput !== '' && JSON.stringify(rawInput) !== '{}';

const isWhole = (call: wire.ToolCall): boolean => hasInput(call) || (call.content?.length ?? 0) > 0;

/** What is said of the input now, or was said before where an update says nothing of it. */
const inputOf = (call: wire.ToolCall, known: OpenCall | null): string => {
  if (hasInput(call) || known === null || known.input === '') return inputText(call);
  return known.input;
};

/** Calls that never end are let go of, the oldest first. */
const bounded = (calls: State['calls']): State['calls'] => Object.fromEntries(Object.entries(calls).slice(-MAX_OPEN_CALLS));

/** A plan is one row that comes again whenever it changes. */
const planRows = (now: State, update: unknown): readonly ConversationBody[] => {
  const entries = wire.plan.safeParse(update).data?.entries ?? [];
  const said = entries.map(({ content, status }) => ({ text: content, status: STATUS[status] ?? 'pending' }));
  return [{ kind: 'plan', row: rowName(now, 'plan'), entries: boundedPlan(said) }];
};

const STATUS: Readonly<Record<string, PlanEntry['status']>> = { completed: 'done', in_progress: 'active' };

const noticeRows = (update: unknown, program: string): readonly ConversationBody[] => {
  const { data } = wire.noticeUpdate.safeParse(update);
  if (data === undefined) return [];
  const level = data.severity === 'error' || data.severity === 'warning' ? data.severity : 'info';
  return [noticeOf(level, `${program}: ${data.title}`)];
};

const compactionRows = (update: unknown, program: string): readonly ConversationBody[] => {
  const { data } = wire.compaction.safeParse(update);
  if (data?.status === 'completed') return [{ kind: 'compacted', trigger: 'auto', beforeTokens: null, afterTokens: null }];
  if (data?.error == null) return [];
  return [noticeOf('warning', `${program} could not compact the conversation: ${data.error}`)];
};
