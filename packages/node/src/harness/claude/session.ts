// Claude Code as the program of a session: one process for many turns, JSON lines both ways, and its control requests.

import type { PermissionMode } from '@orrery/protocol';
import { z } from 'zod';
import {
  cannotBeTold,
  createDialogue,
  type SessionCatalogue,
  type SessionCommand,
  type SessionDialect,
  type Spoken,
} from '../dialogue.ts';
import type { SessionAdapter, SessionContext, SessionLaunch } from '../harness.ts';
import { formAsk } from '../forms.ts';
import { requireProgram } from '../program.ts';
import { askOf, asked, decisionOf } from './asks.ts';
import { branchArguments, claudeArguments, claudeEnvironment, promptText, userLine } from './launch.ts';
import { noContent } from './content.ts';
import { liveOf, writing } from './live.ts';
import { claudeDialect, claudeState } from './translate.ts';
import { chainEntry, controlCancel, controlRequest, controlResponse, userFrame } from './wire.ts';

/** How the program calls a mode. `all` is given by the node, which answers each question itself: the program may be told otherwise at any time. */
const modes: Readonly<Record<PermissionMode, string>> = { ask: 'default', edits: 'acceptEdits', all: 'default', plan: 'plan' };

const state = z.object({
  inner: claudeState,
  turn: z.int().nullable(),
  /** The number of the last turn that was begun. */
  last: z.int(),
  /** What was said and is not echoed yet, in order: a prompt (null) or the key of a steer. */
  unechoed: z.array(z.string().nullable()),
  /** What it asks and has no answer to yet. */
  asks: z.record(z.string(), asked),
  requests: z.int(),
  /** A turn that it began by itself, when something in the background had ended, is under way. */
  alone: z.boolean().default(false),
  /** What it writes now: the model response, and the kind of its block. */
  writing: writing.nullable().default(null),
  at: z.string().nullable().default(null),
});
type State = z.output<typeof state>;

const fresh = ({ conversation, content }: Pick<State['inner'], 'conversation' | 'content'>): State['inner'] => ({
  ...claudeDialect.initial,
  conversation,
  content,
});

const dialect: SessionDialect<State> = {
  program: claudeDialect.program,
  schema: state,
  begin: ({ conversation }) => ({
    state: {
      inner: fresh({ conversation, content: noContent }),
      turn: null,
      last: 0,
      unechoed: [],
      asks: {},
      requests: 0,
      alone: false,
      writing: null,
      at: null,
    },
    say: [{ value: { type: 'control_request', request_id: 'initialize', request: { subtype: 'initialize' } } }],
  }),
  hear(now, frame) {
    switch (frame['type']) {
      case 'control_response':
        return onResponse(now, frame);
      case 'control_request':
        return onRequest(now, frame);
      case 'control_cancel_request':
        return onCancel(now, frame);
      case 'result':
        return onResult(now, frame);
      case 'user':
        return onUser(now, frame);
      case 'stream_event':
        return onStream(now, frame);
      default:
        return onOther(now, frame);
    }
  },
  tell,
};

const onStream = (now: State, frame: unknown): Spoken<State> => {
  const told = liveOf(now.writing, frame, now.inner.message);
  return { state: { ...now, writing: told.writing }, live: told.live };
};

const inner = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const { state: next, events, drift } = claudeDialect.frame(now.inner, frame);
  return {
    state: { ...now, inner: next, at: chainEntry.safeParse(frame).data?.uuid ?? now.at },
    events,
    ...(drift === undefined ? {} : { drift }),
  };
};

const onOther = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const step = inner(now, frame);
  if (frame['type'] !== 'system' || frame['subtype'] !== 'init') return step;
  const mode = typeof frame['permissionMode'] === 'string' ? [{ kind: 'mode', mode: frame['permissionMode'] } as const] : [];
  const id = step.state.inner.conversation;
  const [first] = now.unechoed;
  const facts = [...(id === null || id === now.inner.conversation ? [] : [{ kind: 'conversation', id } as const]), ...mode];
  // A steer that its turn did not take in begins the next one.
  if (now.turn === null && first === undefined) return { ...step, state: { ...step.state, alone: true }, facts };
  if (now.turn !== null || typeof first !== 'string') return { ...step, facts };
  return beganBy(first, { ...step, facts });
};

const beganBy = (key: string, step: Spoken<State>): Spoken<State> => {
  const turn = step.state.last + 1;
  return { ...step, state: { ...step.state, turn, last: turn }, facts: [...(step.facts ?? []), { kind: 'began', turn, key }] };
};

const onUser = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  if (userFrame.safeParse(frame).data?.isReplay !== true) return inner(now, frame);
  const [first, ...unechoed] = now.unechoed;
  const step = inner({ ...now, unechoed }, frame);
  if (now.turn === null) return typeof first === 'string' ? beganBy(first, step) : step;
  if (first === undefined) return step;
  return {
    ...step,
    facts: [first === null ? { kind: 'accepted', turn: now.turn } : { kind: 'steered', key: first, refused: null }],
  };
};

const onResult = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const heard = inner(now, frame);
  const step = { ...heard, state: { ...heard.state, alone: false } };
  if (!step.state.inner.settled) return step;
  // Of a turn of its own: a prompt that was sent meanwhile and is not echoed comes after it.
  const others = now.unechoed[0] === null && (now.alone || step.state.inner.reported?.kind === 'success');
  if (now.turn === null || others) return { ...step, state: { ...step.state, inner: fresh(step.state.inner) } };
  const { reported, conversation } = step.state.inner;
  const accepted = now.unechoed[0] === null ? [{ kind: 'accepted', turn: now.turn } as const] : [];
  return {
    ...step,
    state: { ...step.state, inner: fresh(step.state.inner), turn: null, unechoed: now.unechoed.filter((key) => key !== null) },
    facts: [
      ...accepted,
      ...(conversation === null || conversation === now.inner.conversation
        ? []
        : [{ kind: 'conversation', id: conversation } as const]),
      ...(step.state.at === null ? [] : [{ kind: 'position', at: step.state.at } as const]),
      { kind: 'ended', turn: now.turn, reported },
    ],
  };
};

const onResponse = (now: State, frame: unknown): Spoken<State> => {
  const { data } = controlResponse.safeParse(frame);
  if (data?.response.request_id !== 'initialize') return { state: now };
  return { state: now, facts: [{ kind: 'catalogue', catalogue: catalogueOf(data.response.response) }, { kind: 'ready' }] };
};

const reportedCatalogue = z.object({
  commands: z.array(z.object({ name: z.string(), description: z.string().catch('') })).catch([]),
  models: z
    .array(
      z.object({ value: z.string(), displayName: z.string().optional(), supportedEffortLevels: z.array(z.string()).catch([]) }),
    )
    .catch([]),
});

const catalogueOf = (response: unknown): SessionCatalogue => {
  const { data } = reportedCatalogue.safeParse(response);
  return {
    models: (data?.models ?? []).map(({ value, displayName, supportedEffortLevels }) => ({
      id: value,
      name: displayName ?? value,
      efforts: supportedEffortLevels,
    })),
    commands: data?.commands ?? [],
  };
};

const onRequest = (now: State, frame: unknown): Spoken<State> => {
  const { data } = controlRequest.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'frame control_request of another shape' };
  const { request_id: key, request } = data;
  if (request.subtype === 'elicitation') return onForm(now, key, request);
  if (request.subtype !== 'can_use_tool') {
    const response = { subtype: 'error', request_id: key, error: 'This client does not answer that.' };
    return {
      state: now,
      say: [{ value: { type: 'control_response', response } }],
      drift: `control_request ${request.subtype}`.slice(0, 80),
    };
  }
  const question = {
    tool: request.tool_name ?? '',
    input: request.input ?? {},
    suggestions: request.permission_suggestions ?? null,
    form: false,
  };
  return {
    state: { ...now, asks: { ...now.asks, [key]: question } },
    facts: [{ kind: 'asks', key, ask: askOf(question, request.description ?? null) }],
  };
};

const onForm = (now: State, key: string, request: z.output<typeof controlRequest>['request']): Spoken<State> => {
  const server = request.mcp_server_name ?? 'A server';
  const url = request.mode === 'url' ? (request.url ?? '') : null;
  const { message, requested_schema: schema, property_order: order } = request;
  const ask = formAsk({ server, message: message ?? '', url, schema, order: order ?? [] });
  return {
    state: { ...now, asks: { ...now.asks, [key]: { tool: server, input: {}, suggestions: null, form: true } } },
    facts: [{ kind: 'asks', key, ask }],
  };
};

const onCancel = (now: State, frame: unknown): Spoken<State> => {
  const key = controlCancel.safeParse(frame).data?.request_id;
  if (key === undefined || now.asks[key] === undefined) return { state: now };
  return { state: { ...now, asks: without(now.asks, key) }, facts: [{ kind: 'withdrawn', key }] };
};

const without = (asks: State['asks'], key: string): State['asks'] =>
  Object.fromEntries(Object.entries(asks).filter(([name]) => name !== key));

function tell(now: State, command: SessionCommand): Spoken<State> {
  switch (command.kind) {
    case 'prompt':
      return {
        state: {
          ...now,
          inner: fresh(now.inner),
          turn: command.turn,
          last: command.turn,
          unechoed: [...now.unechoed, null],
        },
        say: [{ value: userLine(promptText(command.text)), prompt: command.turn }],
      };
    case 'steer':
      if (now.turn === null) return { state: now, facts: [{ kind: 'steered', key: command.key, refused: 'no turn runs' }] };
      return {
        state: { ...now, unechoed: [...now.unechoed, command.key] },
        say: [{ value: userLine(promptText(command.text)) }],
      };
    case 'interrupt':
      return request(now, { subtype: 'interrupt' });
    case 'mode':
      return request(now, { subtype: 'set_permission_mode', mode: modes[command.mode] });
    case 'answer':
      return answer(now, command);
  }
}

const request = (now: State, body: object): Spoken<State> => {
  const requests = now.requests + 1;
  return {
    state: { ...now, requests },
    say: [{ value: { type: 'control_request', request_id: `r${requests}`, request: body } }],
  };
};

const answer = (now: State, { key, ...given }: Extract<SessionCommand, { kind: 'answer' }>): Spoken<State> => {
  const open = now.asks[key];
  if (open === undefined) throw cannotBeTold(claudeDialect.program, 'be answered what it does not ask');
  const response = { subtype: 'success', request_id: key, response: decisionOf(open, given) };
  return { state: { ...now, asks: without(now.asks, key) }, say: [{ value: { type: 'control_response', response } }] };
};

const launch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'claude');
  return {
    command: program.executable,
    args: [
      ...claudeArguments(context),
      ...branchArguments(context),
      ...['--include-partial-messages', '--permission-prompt-tool', 'stdio', '--permission-mode', modes[context.mode]],
    ],
    env: claudeEnvironment(context),
    homeFiles: {},
    programPaths: [program.directory],
  };
};

/** Claude Code in a session. */
export const claudeSession: SessionAdapter = {
  capabilities: {
    steer: true,
    approvals: true,
    questions: true,
    modes: ['ask', 'edits', 'all', 'plan'],
    commands: true,
    models: true,
    ...({ fork: 'native', rewind: 'native' } as const),
  },
  program: claudeDialect.program,
  launch,
  hasLost: (stderr) => /^No conversation found with session ID/m.test(stderr),
  dialogue: (from) => createDialogue(dialect, from),
};
