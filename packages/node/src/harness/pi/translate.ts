// Pi's frames as events. Pure: state in, state and events out.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { asText, byteLength, clip } from '../clip.ts';
import { picturesIn } from '../pictures.ts';
import { failureOf, readErrorBody } from '../failure.ts';
import type { TurnFailure } from '../harness.ts';
import { INLINE_NOTICE_BYTES } from '../limits.ts';
import { reported } from '../reported.ts';
import type { Dialect, Step } from '../translator.ts';
import { assistantMessage, contentPart, messageEnd, retryStart, sessionFrame, settledFrame, toolEnd } from './wire.ts';

/** What is remembered between the frames of a turn. */
export const piState = z.object({
  conversation: z.string().nullable(),
  accepted: z.boolean(),
  /** Model responses so far: names their rows. */
  responses: z.int(),
  usage: z.object({ input: z.int(), output: z.int(), cached: z.int() }),
  /** The newest response's failure; a later good response takes it away. */
  failure: reported,
  settled: z.boolean(),
  reported,
});
type State = z.output<typeof piState>;

/** Frames whose content comes again, whole, in another. */
const QUIET = new Set([
  ...['agent_start', 'turn_start', 'turn_end', 'agent_end', 'message_start', 'message_update'],
  ...[
    'tool_execution_start',
    'tool_execution_update',
    'auto_retry_end',
    'entry_appended',
    'queue_update',
    'thinking_level_changed',
  ],
  ...['auto_compaction_start', 'auto_compaction_end', 'compaction_start', 'compaction_end', 'session_info_changed'],
]);

const drift = (now: State, name: string): Step<State> => ({ state: now, events: [], drift: name.slice(0, 80) });
const events = (now: State, ...list: readonly ConversationBody[]): Step<State> => ({ state: now, events: list });

/** The dialect of `pi --mode json`. Its exit code is 0 after a failed turn: the last message decides. */
export const piDialect: Dialect<State> = {
  program: 'Pi',
  schema: piState,
  initial: {
    conversation: null,
    accepted: false,
    responses: 0,
    usage: { input: 0, output: 0, cached: 0 },
    failure: null,
    settled: false,
    reported: null,
  },
  frame(now, value) {
    const type = String(value['type']);
    switch (type) {
      case 'session':
        return onSession(now, value);
      case 'message_end':
        return onMessage(now, value);
      case 'tool_execution_end':
        return onToolEnd(now, value);
      case 'auto_retry_start':
        return onRetry(now, value);
      case 'agent_settled':
        return onSettled(now, value);
      default:
        return QUIET.has(type) ? events(now) : drift(now, `frame ${type}`);
    }
  },
  facts: (now) => ({ conversation: now.conversation, settled: now.settled, accepted: now.accepted, reported: now.reported }),
};

const onSession = (now: State, value: unknown): Step<State> => {
  const { data } = sessionFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame session of another shape');
  return events({ ...now, conversation: data.id }, { kind: 'turn.started', conversation: data.id, model: null });
};

const onMessage = (now: State, value: unknown): Step<State> => {
  const role = messageEnd.safeParse(value).data?.message;
  if (role === undefined) return drift(now, 'frame message_end of another shape');
  if (role.role === 'user') return events({ ...now, accepted: true });
  // Tool results are told by the end of their execution.
  if (role.role !== 'assistant') return events(now);
  const { data } = assistantMessage.safeParse(role);
  return data === undefined ? drift(now, 'frame message_end of an assistant message of another shape') : onResponse(now, data);
};

const onResponse = (now: State, message: z.output<typeof assistantMessage>): Step<State> => {
  const responses = now.responses + 1;
  const row = `response-${responses}`;
  const parts = message.content.map((part) => contentPart.safeParse(part).data ?? null);
  const thinking = parts.flatMap((part) => (part?.type === 'thinking' ? [part.thinking] : [])).join('\n\n');
  const text = parts.flatMap((part) => (part?.type === 'text' ? [part.text] : [])).join('\n\n');
  const calls = parts.flatMap((part): ConversationBody[] =>
    part?.type === 'toolCall' ? [{ kind: 'tool.call', row: part.id, tool: part.name, input: asText(part.arguments) }] : [],
  );
  const usage = {
    input: now.usage.input + (message.usage?.input ?? 0) + (message.usage?.cacheRead ?? 0) + (message.usage?.cacheWrite ?? 0),
    output: now.usage.output + (message.usage?.output ?? 0),
    cached: now.usage.cached + (message.usage?.cacheRead ?? 0),
  };
  return {
    state: { ...now, accepted: true, responses, usage, failure: failureOfMessage(message) },
    events: [
      ...(thinking === '' ? [] : [{ kind: 'thinking', row, text: thinking } as const]),
      ...(text === '' ? [] : [{ kind: 'text', row, text } as const]),
      ...calls,
    ],
    ...(parts.includes(null) ? { drift: 'frame message_end with an unknown part' } : {}),
  };
};

const failureOfMessage = ({ stopReason, errorMessage }: z.output<typeof assistantMessage>): State['failure'] => {
  if (stopReason === 'aborted') return { kind: 'stopped' };
  if (stopReason !== 'error') return null;
  const { status, codes, message, resetsAt } = readApiError(errorMessage ?? 'The model call failed without a message.');
  return { kind: 'failure', failure: failureOf({ status, codes, message }) ?? byWords(message), message, resetsAt };
};

/** `429 {json}`, a bare JSON body, or words. */
const readApiError = (text: string) => {
  const [, status, rest] = /^(\d{3}) (.*)$/s.exec(text) ?? [];
  const body = readErrorBody(rest ?? text);
  return { ...body, status: status === undefined ? null : Number(status) };
};

const byWords = (message: string): TurnFailure => {
  if (/timed? ?out|timeout/i.test(message)) return 'timeout';
  if (/connection error|other side closed|terminated|socket|ECONN|EPIPE|fetch failed|network/i.test(message)) return 'network';
  return /stream ended|unexpected (token|end)|not valid json|malformed|parse/i.test(message) ? 'protocol' : 'program';
};

const onToolEnd = (now: State, value: unknown): Step<State> => {
  const { data } = toolEnd.safeParse(value);
  if (data === undefined) return drift(now, 'frame tool_execution_end of another shape');
  const output = (data.result?.content ?? []).map(partText).join('\n');
  return events(now, {
    kind: 'tool.result',
    row: data.toolCallId,
    tool: data.toolName,
    output,
    outputBytes: byteLength(output),
    failed: data.isError,
    ...picturesIn(data.result?.content ?? []),
  });
};

const partText = (part: { readonly type: string; readonly text?: unknown }): string =>
  typeof part.text === 'string' ? part.text : `[${part.type}]`;

const onRetry = (now: State, value: unknown): Step<State> => {
  const { data } = retryStart.safeParse(value);
  if (data === undefined) return drift(now, 'frame auto_retry_start of another shape');
  const { message } = readApiError(data.errorMessage);
  const text = clip(
    `The model call failed (${message}); attempt ${data.attempt} of ${data.maxAttempts} follows.`,
    INLINE_NOTICE_BYTES,
  );
  return events(now, { kind: 'notice', level: 'warning', text });
};

const onSettled = (now: State, value: unknown): Step<State> => {
  const aborted = settledFrame.safeParse(value).data?.aborted === true;
  const word = aborted ? ({ kind: 'stopped' } as const) : (now.failure ?? ({ kind: 'success' } as const));
  const { input, output, cached } = now.usage;
  return events(
    { ...now, settled: true, reported: word },
    { kind: 'usage', inputTokens: input, outputTokens: output, cachedTokens: cached },
  );
};
