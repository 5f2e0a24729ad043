// Codex's frames as events. Pure: state in, state and events out.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { asText, byteLength, clip } from '../clip.ts';
import { failureOf, readErrorBody } from '../failure.ts';
import type { TurnFailure } from '../harness.ts';
import { INLINE_BODY_BYTES } from '../limits.ts';
import { reported } from '../reported.ts';
import type { Dialect, Step } from '../translator.ts';
import { errorFrame, failedFrame, itemFrame, threadStarted, type Item } from './wire.ts';

const state = z.object({
  conversation: z.string().nullable(),
  accepted: z.boolean(),
  /** Calls that were told when they started, so that their end brings the result alone. */
  started: z.array(z.string()),
  settled: z.boolean(),
  reported,
});
type State = z.output<typeof state>;

/** Running calls that are remembered; Codex runs a handful at once. */
const REMEMBERED_CALLS = 64;

const drift = (now: State, name: string): Step<State> => ({ state: now, events: [], drift: name.slice(0, 80) });
const events = (now: State, ...list: readonly ConversationBody[]): Step<State> => ({ state: now, events: list });

/** The dialect of `codex exec --json`. Its token counts are sums over the whole conversation, so they are left to the gateway. */
export const codexDialect: Dialect<State> = {
  program: 'Codex',
  schema: state,
  initial: { conversation: null, accepted: false, started: [], settled: false, reported: null },
  frame(now, value) {
    const type = String(value['type']);
    switch (type) {
      case 'thread.started':
        return onThread(now, value);
      case 'turn.started':
        return events({ ...now, accepted: true });
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return onItem(now, value, type);
      case 'error':
        return onError(now, value);
      case 'turn.completed':
        return events({ ...now, settled: true, reported: { kind: 'success' } });
      case 'turn.failed':
        return onFailed(now, value);
      default:
        return drift(now, `frame ${type}`);
    }
  },
  facts: (now) => ({ conversation: now.conversation, settled: now.settled, accepted: now.accepted, reported: now.reported }),
};

const onThread = (now: State, value: unknown): Step<State> => {
  const { data } = threadStarted.safeParse(value);
  if (data === undefined) return drift(now, 'frame thread.started of another shape');
  return events({ ...now, conversation: data.thread_id }, { kind: 'turn.started', conversation: data.thread_id, model: null });
};

const onItem = (
  now: State,
  value: Readonly<Record<string, unknown>>,
  type: 'item.started' | 'item.updated' | 'item.completed',
): Step<State> => {
  const { data } = itemFrame.safeParse(value);
  if (data === undefined) return drift(now, `frame ${type} of ${itemType(value['item'])}`);
  const { item } = data;
  switch (item.type) {
    case 'reasoning':
      return events(now, { kind: 'thinking', row: item.id, text: item.text });
    case 'agent_message':
      return events(now, { kind: 'text', row: item.id, text: item.text });
    case 'todo_list':
      return events(now, { kind: 'thinking', row: item.id, text: planText(item) });
    case 'error':
      return events(now, { kind: 'notice', level: 'warning', text: clip(item.message, INLINE_BODY_BYTES) });
    default:
      return onCall(now, item, type);
  }
};

const itemType = (value: unknown): string => {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : null;
  return typeof type === 'string' ? type : 'no item';
};

const planText = (plan: Extract<Item, { type: 'todo_list' }>): string =>
  plan.items.map(({ text, completed }) => `${completed ? '[x]' : '[ ]'} ${text}`).join('\n');

type Call = Extract<Item, { type: 'command_execution' | 'file_change' | 'mcp_tool_call' | 'web_search' }>;

const onCall = (now: State, call: Call, type: 'item.started' | 'item.updated' | 'item.completed'): Step<State> => {
  const known = now.started.includes(call.id);
  const { tool, input } = callOf(call);
  const told: readonly ConversationBody[] = known ? [] : [{ kind: 'tool.call', row: call.id, tool, input }];
  if (type !== 'item.completed')
    return events({ ...now, started: known ? now.started : [...now.started, call.id].slice(-REMEMBERED_CALLS) }, ...told);
  const output = outputOf(call);
  const failed = 'status' in call && call.status !== 'completed';
  const result: ConversationBody = {
    kind: 'tool.result',
    row: call.id,
    tool,
    output,
    outputBytes: byteLength(output),
    failed,
  };
  return events({ ...now, started: now.started.filter((id) => id !== call.id) }, ...told, result);
};

const callOf = (call: Call): { readonly tool: string; readonly input: string } => {
  switch (call.type) {
    case 'command_execution':
      return { tool: 'shell', input: call.command };
    case 'file_change':
      return { tool: 'apply_patch', input: call.changes.map(({ kind, path }) => `${kind} ${path}`).join('\n') };
    case 'mcp_tool_call':
      return { tool: `${call.server}.${call.tool}`, input: asText(call.arguments) };
    case 'web_search':
      return { tool: 'web_search', input: call.query };
  }
};

const outputOf = (call: Call): string => {
  switch (call.type) {
    case 'command_execution': {
      const code =
        call.exit_code === null || call.exit_code === undefined || call.exit_code === 0 ? '' : `\n[exit code ${call.exit_code}]`;
      return `${call.aggregated_output ?? ''}${code}`;
    }
    case 'file_change':
      return call.status;
    case 'mcp_tool_call':
      return asText(call.error ?? call.result);
    case 'web_search':
      return '';
  }
};

const onError = (now: State, value: unknown): Step<State> => {
  const { data } = errorFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame error of another shape');
  // The last error comes again as the turn's failure; the ones before announce another attempt.
  const again = data.message.startsWith('Reconnecting...');
  if (!again) return events({ ...now, reported: failureBy(data.message) });
  return events(now, { kind: 'notice', level: 'warning', text: clip(data.message, INLINE_BODY_BYTES) });
};

const onFailed = (now: State, value: unknown): Step<State> => {
  const { data } = failedFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame turn.failed of another shape');
  return events({ ...now, settled: true, reported: failureBy(data.error.message) });
};

/** A failure by what its message says. */
export const failureBy = (message: string): NonNullable<State['reported']> => {
  const body = readErrorBody(message);
  return { kind: 'failure', failure: failureKind(body), message: body.message, resetsAt: body.resetsAt };
};

const failureKind = ({ codes, message }: { readonly codes: readonly string[]; readonly message: string }): TurnFailure => {
  const status = /(?:unexpected|last) status:? (\d{3})/.exec(message)?.[1];
  const known = failureOf({ status: status === undefined ? (codes.length > 0 ? 400 : null) : Number(status), codes, message });
  if (known !== null) return known;
  if (/idle timeout|timed out|timeout/i.test(message)) return 'timeout';
  if (/error sending request|transport error|connection/i.test(message)) return 'network';
  return /stream closed before|disconnected before completion|expected value|decod/i.test(message) ? 'protocol' : 'program';
};
