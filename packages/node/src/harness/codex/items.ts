// Items of a thread as rows of the log. Pure.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { asText, byteLength } from '../clip.ts';
import { picturesIn } from '../pictures.ts';
import type { Reported } from '../reported.ts';
import { failureOf, readErrorBody } from '../failure.ts';
import { failureBy } from './translate.ts';
import type { ThreadItem, TurnError } from './session-wire.ts';

/** Rows of an item that began, or ended. */
export const itemRows = (item: ThreadItem, ended: boolean): readonly ConversationBody[] => {
  switch (item.type) {
    case 'userMessage':
    case 'contextCompaction':
    case 'subAgentActivity':
      return [];
    case 'agentMessage':
    case 'plan':
      return item.text === '' ? [] : [{ kind: 'text', row: item.id, text: item.text }];
    case 'reasoning': {
      const text = [...item.summary, ...item.content].join('\n\n');
      return text === '' ? [] : [{ kind: 'thinking', row: item.id, text }];
    }
    default:
      return [ended ? resultOf(item) : callOf(item)];
  }
};

type Call = Extract<
  ThreadItem,
  { type: 'commandExecution' | 'fileChange' | 'mcpToolCall' | 'webSearch' | 'collabAgentToolCall' }
>;

const nameOf = (call: Call): string => {
  switch (call.type) {
    case 'commandExecution':
      return 'shell';
    case 'fileChange':
      return 'apply_patch';
    case 'mcpToolCall':
      return `${call.server}.${call.tool}`;
    case 'webSearch':
      return 'web_search';
    case 'collabAgentToolCall':
      return `agents.${call.tool}`;
  }
};

const callOf = (call: Call): ConversationBody => ({
  kind: 'tool.call',
  row: call.id,
  tool: nameOf(call),
  input: inputOf(call),
});

const inputOf = (call: Call): string => {
  switch (call.type) {
    case 'commandExecution':
      return call.command;
    case 'fileChange':
      return changeText(call);
    case 'mcpToolCall':
      return asText(call.arguments);
    case 'webSearch':
      return call.query;
    case 'collabAgentToolCall':
      return call.prompt ?? '';
  }
};

type FileChange = Extract<ThreadItem, { type: 'fileChange' }>;

/** Every file of a change: where one is moved to, too. */
export const changedPaths = ({ changes }: FileChange): string[] =>
  changes.flatMap(({ path, kind }) => (kind?.move_path == null ? [path] : [path, kind.move_path]));

/** A change of files as people read it. */
export const changeText = ({ changes }: FileChange): string =>
  changes.map(({ path, kind, diff }) => `${path}${kind?.move_path == null ? '' : ` → ${kind.move_path}`}\n${diff}`).join('\n');

const resultOf = (call: Call): ConversationBody => {
  const output = outputOf(call);
  return {
    kind: 'tool.result',
    row: call.id,
    tool: nameOf(call),
    output,
    outputBytes: byteLength(output),
    failed: 'status' in call && call.status !== 'completed',
    ...(call.type === 'mcpToolCall' ? picturesIn(mcpParts(call.result)) : {}),
  };
};

const mcpResult = z.object({ content: z.array(z.looseObject({ type: z.string() })) });

/** What a tool of a server gave, part by part. */
const mcpParts = (result: unknown) => mcpResult.safeParse(result).data?.content ?? [];

/** With a picture among them: their texts, since the whole would be the picture's letters. */
const mcpText = (result: unknown): string | null => {
  const parts = mcpParts(result);
  if (!parts.some(({ type }) => type === 'image')) return null;
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${part.type}]`)).join('\n');
};

const outputOf = (call: Call): string => {
  switch (call.type) {
    case 'commandExecution':
      return `${call.aggregatedOutput ?? ''}${(call.exitCode ?? 0) === 0 ? '' : `\n[exit code ${call.exitCode}]`}`;
    case 'fileChange':
      return call.status;
    case 'mcpToolCall':
      return asText(call.error ?? mcpText(call.result) ?? call.result);
    case 'webSearch':
    case 'collabAgentToolCall':
      return '';
  }
};

/** Why a turn failed: by the program's own code first, by its words last. */
export const failureOfTurn = (error: TurnError): Reported => {
  const { codes, status } = codesOf(error.codexErrorInfo);
  const message = error.additionalDetails == null ? error.message : `${error.message} ${error.additionalDetails}`;
  const known = failureOf({ status, codes, message });
  if (known === null) return failureBy(message);
  return { kind: 'failure', failure: known, message, resetsAt: readErrorBody(message).resetsAt };
};

/** `"usageLimitExceeded"`, or `{"httpConnectionFailed": {"httpStatusCode": 500}}`. */
const codesOf = (info: unknown): { readonly codes: readonly string[]; readonly status: number | null } => {
  if (typeof info === 'string') return { codes: [info], status: null };
  if (typeof info !== 'object' || info === null) return { codes: [], status: null };
  const [first] = Object.entries(info);
  const inner: unknown = first?.[1];
  const status =
    typeof inner === 'object' && inner !== null && 'httpStatusCode' in inner && typeof inner.httpStatusCode === 'number'
      ? inner.httpStatusCode
      : null;
  return { codes: first === undefined ? [] : [first[0]], status };
};
