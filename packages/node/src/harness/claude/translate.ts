// Claude Code's frames as events. Pure: state in, state and events out.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { asText, byteLength, clip } from '../clip.ts';
import { picturesIn } from '../pictures.ts';
import { epochSeconds, failureOf } from '../failure.ts';
import { INLINE_TEXT_BYTES } from '../limits.ts';
import { reported, type Reported } from '../reported.ts';
import type { Dialect, Step } from '../translator.ts';
import { agentMessage, claudeContent, hearContent, noContent, underAgent, withMessage } from './content.ts';
import {
  assistantBlock,
  assistantFrame,
  contentText,
  rateLimitFrame,
  resultFrame,
  systemFrame,
  userBlock,
  userFrame,
} from './wire.ts';

/** What is remembered between the frames of a turn. */
export const claudeState = z.object({
  conversation: z.string().nullable(),
  accepted: z.boolean(),
  /** The model response being told: its text and thinking so far, since each block comes on a line of its own. */
  message: z.object({ id: z.string(), text: z.string(), thinking: z.string() }),
  /** Names of tools by call id, for their results; the last few only. */
  tools: z.array(z.tuple([z.string(), z.string()])),
  apiError: z.object({ status: z.number().nullable(), codes: z.array(z.string()), message: z.string() }).nullable(),
  limitResetsAt: z.string().nullable(),
  settled: z.boolean(),
  reported,
  content: claudeContent,
});
type State = z.output<typeof claudeState>;

/** Calls whose tool names are remembered; a model response rarely makes more at once. */
const REMEMBERED_TOOLS = 64;

/** News that need no row of their own. */
const QUIET_SYSTEM = new Set([
  'thinking_tokens',
  'status',
  'compact_boundary',
  'hook_started',
  'hook_response',
  'hook_progress',
  'task_started',
  'task_progress',
  'task_notification',
  'task_updated',
  'background_tasks_changed',
]);
const QUIET_FRAMES = new Set([
  'stream_event',
  'control_response',
  'keep_alive',
  'tool_progress',
  'tool_use_summary',
  'auth_status',
]);

const drift = (now: State, name: string): Step<State> => ({ state: now, events: [], drift: name.slice(0, 80) });
const quiet = (now: State): Step<State> => ({ state: now, events: [] });

/** The dialect of `claude -p --output-format stream-json`. */
export const claudeDialect: Dialect<State> = {
  program: 'Claude Code',
  schema: claudeState,
  initial: {
    conversation: null,
    accepted: false,
    message: { id: '', text: '', thinking: '' },
    tools: [],
    apiError: null,
    limitResetsAt: null,
    settled: false,
    reported: null,
    content: noContent,
  },
  frame(now, value) {
    const step = frame(now, value);
    const { content, events } = hearContent(step.state.content, value);
    return { ...step, state: { ...step.state, content }, events: [...step.events, ...events] };
  },
  facts: (now) => ({ conversation: now.conversation, settled: now.settled, accepted: now.accepted, reported: now.reported }),
};

const frame = (now: State, value: Readonly<Record<string, unknown>>): Step<State> => {
  const type = String(value['type']);
  switch (type) {
    case 'system':
      return onSystem(now, value);
    case 'assistant':
      return onAssistant(now, value);
    case 'user':
      return onUser(now, value);
    case 'result':
      return onResult(now, value);
    case 'rate_limit_event':
      return onRateLimit(now, value);
    default:
      return QUIET_FRAMES.has(type) ? quiet(now) : drift(now, `frame ${type}`);
  }
};

const onSystem = (now: State, value: unknown): Step<State> => {
  const { data } = systemFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame system of another shape');
  if (data.subtype === 'init') {
    const conversation = data.session_id ?? now.conversation;
    return { state: { ...now, conversation }, events: [{ kind: 'turn.started', conversation, model: data.model ?? null }] };
  }
  if (data.subtype === 'api_retry') {
    const what =
      data.error_status === null || data.error_status === undefined
        ? 'The connection to the model failed'
        : `The model answered ${data.error_status}`;
    const text = `${what} (${data.error ?? 'unknown'}); attempt ${data.attempt ?? '?'} of ${data.max_retries ?? '?'} follows.`;
    return { state: now, events: [{ kind: 'notice', level: 'warning', text }] };
  }
  return QUIET_SYSTEM.has(data.subtype) ? quiet(now) : drift(now, `frame system/${data.subtype}`);
};

const onAssistant = (now: State, value: unknown): Step<State> => {
  const { data } = assistantFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame assistant of another shape');
  if (data.parent_tool_use_id != null) return onAgent(now, data, data.parent_tool_use_id);
  if (data.is_api_error_message === true) return quiet({ ...now, accepted: true, apiError: apiErrorOf(data) });
  const started: State = {
    ...now,
    accepted: true,
    message: data.message.id === now.message.id ? now.message : { id: data.message.id, text: '', thinking: '' },
  };
  return onBlocks(started, data.message.content);
};

const onBlocks = (now: State, blocks: readonly unknown[]): Step<State> => {
  let step: Step<State> = quiet(now);
  for (const item of blocks) {
    const next = onBlock(step.state, item);
    step = { ...next, events: [...step.events, ...next.events], drift: next.drift ?? step.drift };
  }
  return step;
};

/** What a sub-agent says comes between the blocks of the program itself, which go on afterwards. */
const onAgent = (now: State, { message }: z.output<typeof assistantFrame>, agent: string): Step<State> => {
  const step = onBlocks({ ...now, message: agentMessage(now.content, message.id) }, message.content);
  const content = withMessage(step.state.content, step.state.message);
  return { ...step, state: { ...step.state, message: now.message, content }, events: underAgent(step.events, agent) };
};

const onBlock = (now: State, value: unknown): Step<State> => {
  const { data } = assistantBlock.safeParse(value);
  const { message } = now;
  if (data === undefined) return drift(now, 'frame assistant with an unknown block');
  switch (data.type) {
    case 'text': {
      const text = joined(message.text, data.text);
      return {
        state: { ...now, message: { ...message, text: remembered(text) } },
        events: [{ kind: 'text', row: message.id, text }],
      };
    }
    case 'thinking': {
      const thinking = joined(message.thinking, data.thinking);
      const events: ConversationBody[] = thinking === '' ? [] : [{ kind: 'thinking', row: message.id, text: thinking }];
      return { state: { ...now, message: { ...message, thinking: remembered(thinking) } }, events };
    }
    case 'redacted_thinking':
      return quiet(now);
    case 'tool_use':
    case 'server_tool_use':
      return {
        state: { ...now, tools: [...now.tools, [data.id, data.name] as [string, string]].slice(-REMEMBERED_TOOLS) },
        events: [{ kind: 'tool.call', row: data.id, tool: data.name, input: asText(data.input) }],
      };
  }
};

const joined = (before: string, text: string): string => (before === '' ? text : `${before}\n\n${text}`);

/** What is remembered of it, for the next block. */
const remembered = (text: string): string => clip(text, INLINE_TEXT_BYTES);

const onUser = (now: State, value: unknown): Step<State> => {
  const { data } = userFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame user of another shape');
  // The echo says that the prompt was taken; the node wrote its own row for it.
  if (data.isReplay === true || typeof data.message.content === 'string') return quiet({ ...now, accepted: true });
  const events = data.message.content.flatMap((item) => resultEvent(now, item));
  return { state: now, events: data.parent_tool_use_id == null ? events : underAgent(events, data.parent_tool_use_id) };
};

const resultEvent = (now: State, item: unknown): readonly ConversationBody[] => {
  const { data } = userBlock.safeParse(item);
  if (data === undefined) return [];
  const output = typeof data.content === 'string' ? data.content : (data.content ?? []).map(partText).join('\n');
  return [
    {
      kind: 'tool.result',
      row: data.tool_use_id,
      tool: now.tools.find(([id]) => id === data.tool_use_id)?.[1] ?? null,
      output,
      outputBytes: byteLength(output),
      failed: data.is_error === true,
      ...picturesIn(typeof data.content === 'string' ? [] : (data.content ?? [])),
    },
  ];
};

const partText = (part: { readonly type: string }): string => contentText.safeParse(part).data?.text ?? `[${part.type}]`;

const apiErrorOf = (frame: z.output<typeof assistantFrame>): NonNullable<State['apiError']> => {
  const message = frame.message.content.map((item) => contentText.safeParse(item).data?.text ?? '').join('\n');
  const codes = [frame.api_error_type, frame.error, frame.api_error].filter((code): code is string => typeof code === 'string');
  return { status: frame.api_error_status ?? null, codes, message };
};

const onResult = (now: State, value: unknown): Step<State> => {
  const { data } = resultFrame.safeParse(value);
  if (data === undefined) return drift(now, 'frame result of another shape');
  const { usage } = data;
  const input = (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0);
  const events: ConversationBody[] =
    usage === undefined || usage === null
      ? []
      : [{ kind: 'usage', inputTokens: input, outputTokens: usage.output_tokens, cachedTokens: usage.cache_read_input_tokens }];
  const conversation = data.session_id ?? now.conversation;
  // What was heard of this turn's failure says nothing about the next turn's.
  const over = { ...now, limitResetsAt: null, apiError: null };
  return { state: { ...over, settled: true, conversation, reported: reportedBy(now, data) }, events };
};

const reportedBy = (now: State, frame: z.output<typeof resultFrame>): Reported => {
  if (!frame.is_error) return { kind: 'success' };
  if (frame.terminal_reason === 'aborted_streaming' || frame.terminal_reason === 'aborted_tools') return { kind: 'stopped' };
  const message = frame.result ?? frame.errors?.join('\n') ?? now.apiError?.message ?? `The turn ended with ${frame.subtype}.`;
  return { kind: 'failure', failure: failureKind(now, frame, message), message, resetsAt: now.limitResetsAt };
};

const failureKind = (now: State, frame: z.output<typeof resultFrame>, message: string) => {
  if (frame.terminal_reason === 'prompt_too_long') return 'context';
  if (now.limitResetsAt !== null) return 'usage_limit';
  const codes = now.apiError?.codes ?? [];
  const known = failureOf({ status: frame.api_error_status ?? now.apiError?.status ?? null, codes, message });
  if (known !== null) return known;
  if (
    codes.includes('connection_failed') ||
    /connection (dropped|error|refused|closed)|ECONN|ETIMEDOUT|unable to connect/i.test(message)
  )
    return 'network';
  if (/empty or malformed response/i.test(message)) return 'protocol';
  if (/timed out|timeout/i.test(message)) return 'timeout';
  return 'program';
};

const onRateLimit = (now: State, value: unknown): Step<State> => {
  const info = rateLimitFrame.safeParse(value).data?.rate_limit_info;
  if (info === undefined || info === null || info.status !== 'rejected') return quiet(now);
  return quiet({ ...now, limitResetsAt: epochSeconds(info.resetsAt) ?? now.limitResetsAt });
};
