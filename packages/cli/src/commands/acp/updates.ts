// Events of a session as updates of an editor. Text comes as what is new of each row.
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { OrreryEvent } from '@orrery/protocol';
import { contentUpdates } from './content.ts';
import { acpLimits } from './limits.ts';
import type { Place } from './place.ts';
import { toolFace, words } from './tools.ts';

type Said = 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk';

/** A piece of text as an update; its message is named so that pieces of one come together. */
export const said = (sessionUpdate: Said, text: string, messageId?: string): SessionUpdate => ({
  sessionUpdate,
  content: { type: 'text', text },
  ...(messageId === undefined ? {} : { messageId }),
});

export type TranslationParts = {
  readonly place: Place;
  /** Whether the editor takes notices; otherwise they are words of the agent. */
  readonly notices: boolean;
};

/** What is remembered between events. */
type Memory = {
  /** Text so far, by row; the newest rows only. */
  readonly rows: Map<string, { readonly text: string; readonly message: string }>;
  /** Rows of tool calls that the editor knows. */
  readonly calls: Map<string, { readonly tool: string; readonly done: boolean }>;
};

export type Translation = {
  /** Updates of one event, in order; what concerns turns, questions and states of a session is not among them. */
  updates(event: OrreryEvent): SessionUpdate[];
  /** The newest tool call of that name that has no result: what a question is about. */
  openCall(tool: string | null): string | null;
};

/** The id under which the editor knows a tool call: rows are numbered anew in each turn. */
const callId = (turn: number | null, row: string): string => `${turn ?? 0}.${row}`;

export const createTranslation = (parts: TranslationParts): Translation => {
  const memory: Memory = { rows: new Map(), calls: new Map() };
  return {
    updates: (event) => updatesOf(event, parts, memory),
    openCall: (tool) => {
      const open = [...memory.calls].filter(([, call]) => !call.done && (tool === null || call.tool === tool));
      return open.at(-1)?.[0] ?? null;
    },
  };
};

const updatesOf = ({ body, turn }: OrreryEvent, parts: TranslationParts, memory: Memory): SessionUpdate[] => {
  switch (body.kind) {
    case 'user':
      return [said('user_message_chunk', body.text)];
    case 'text':
      // Words of a sub-agent are not those of the agent.
      return newText(memory, {
        as: body.agent === undefined ? 'agent_message_chunk' : 'agent_thought_chunk',
        row: `${turn}.${body.row}.text`,
        text: body.text,
      });
    case 'thinking':
      return newText(memory, { as: 'agent_thought_chunk', row: `${turn}.${body.row}.thinking`, text: body.text });
    case 'tool.call':
      return toolCall(memory, { id: callId(turn, body.row), tool: body.tool, input: body.input }, parts.place);
    case 'tool.result':
      return toolResult(memory, callId(turn, body.row), body);
    case 'notice':
      return [noticeUpdate(body, parts)];
    default:
      return contentUpdates(body) ?? [];
  }
};

const remember = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size <= acpLimits.rows) return;
  for (const [oldest] of map) return void map.delete(oldest);
};

const shared = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
};

/** Part of a text that must stay for its revision to go on where it was, and not to be told anew. */
const KEPT = 0.9;

const newText = (
  { rows }: Memory,
  { as, row, text }: { readonly as: Said; readonly row: string; readonly text: string },
): SessionUpdate[] => {
  const before = rows.get(row);
  if (before === undefined) {
    remember(rows, row, { text, message: row });
    return text === '' ? [] : [said(as, text, row)];
  }
  const same = shared(before.text, text);
  const goesOn = same >= before.text.length * KEPT;
  const message = goesOn ? before.message : `${before.message}'`;
  remember(rows, row, { text, message });
  const fresh = goesOn ? text.slice(same) : text;
  return fresh === '' ? [] : [said(as, fresh, message)];
};

const toolCall = (
  { calls }: Memory,
  { id, tool, input }: { readonly id: string; readonly tool: string; readonly input: string },
  place: Place,
): SessionUpdate[] => {
  const known = calls.has(id);
  remember(calls, id, { tool, done: calls.get(id)?.done ?? false });
  const face = toolFace(tool, input, place);
  if (known) return [{ sessionUpdate: 'tool_call_update', toolCallId: id, ...face }];
  return [{ sessionUpdate: 'tool_call', toolCallId: id, status: 'in_progress', ...face }];
};

const toolResult = (
  { calls }: Memory,
  id: string,
  body: OrreryEvent['body'] & { readonly kind: 'tool.result' },
): SessionUpdate[] => {
  const known = calls.get(id);
  const tool = known?.tool ?? body.tool ?? 'tool';
  remember(calls, id, { tool, done: true });
  const status = body.failed ? ('failed' as const) : ('completed' as const);
  // The diff of a change says more than "done" and stays.
  const output =
    body.output === '' || (!body.failed && known !== undefined && isChange(tool)) ? {} : { content: [words(body.output)] };
  if (known === undefined) return [{ sessionUpdate: 'tool_call', toolCallId: id, title: tool, status, ...output }];
  return [{ sessionUpdate: 'tool_call_update', toolCallId: id, status, ...output }];
};

const isChange = (tool: string): boolean => /(edit|write|patch|replace)/i.test(tool);

const severities = { info: 'info', warning: 'warning', error: 'error' } as const;

const noticeUpdate = (
  { level, text }: OrreryEvent['body'] & { readonly kind: 'notice' },
  { notices }: TranslationParts,
): SessionUpdate => {
  if (notices && text !== '') return { sessionUpdate: 'notice', severity: severities[level], title: text };
  return level === 'info' ? said('agent_thought_chunk', `${text}\n`) : said('agent_message_chunk', `\n\n*${level}:* ${text}\n\n`);
};
