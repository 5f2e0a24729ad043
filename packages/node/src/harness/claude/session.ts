// Claude Code as the program of a session: one process for many turns, JSON lines both ways, and its control requests.

import { z } from 'zod';
import { cannotBeTold, createDialogue, type SessionCommand, type SessionDialect, type Spoken } from '../dialogue.ts';
import { clip } from '../clip.ts';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import type { SessionAdapter } from '../harness.ts';
import { ownModel } from '../model-name.ts';
import { noticeOf } from '../frames.ts';
import { formAsk } from '../forms.ts';
import { askOf, asked, decisionOf } from './asks.ts';
import { saidLine } from './launch.ts';
import { noContent } from './content.ts';
import { liveOf, writing } from './live.ts';
import { catalogueOf, isLocal, localFailureOf, promptLine, refusedWith, settingsOf, without } from './orders.ts';
import { claudeAbilities, claudeSessionLaunch, modes } from './session-launch.ts';
import { claudeDialect, claudeState } from './translate.ts';
import { chainEntry, controlCancel, controlRequest, controlResponse, userFrame } from './wire.ts';

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
  /** Why a command of its own failed, until its turn ends. */
  refusal: z.string().nullable().default(null),
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
      refusal: null,
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
      case 'assistant':
        return onAssistant(now, frame);
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
  const model = step.state.inner.content.model;
  const models = model === null || model === now.inner.content.model ? [] : [{ kind: 'model', model, effort: null } as const];
  const id = step.state.inner.conversation;
  const [first] = now.unechoed;
  const facts = [
    ...(id === null || id === now.inner.conversation ? [] : [{ kind: 'conversation', id } as const]),
    ...mode,
    ...models,
  ];
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
  const local = isLocal(frame);
  const others = now.unechoed[0] === null && !local && (now.alone || step.state.inner.reported?.kind === 'success');
  if (now.turn === null || others) return { ...step, state: { ...step.state, inner: fresh(step.state.inner) } };
  const { conversation } = step.state.inner;
  const reported = now.refusal === null ? step.state.inner.reported : refusedWith(now.refusal);
  const accepted = now.unechoed[0] === null ? [{ kind: 'accepted', turn: now.turn } as const] : [];
  return {
    ...step,
    state: {
      ...step.state,
      inner: fresh(step.state.inner),
      turn: null,
      refusal: null,
      unechoed: now.unechoed.filter((key) => key !== null),
    },
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

const onAssistant = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const failed = localFailureOf(frame);
  return inner(failed === null ? now : { ...now, refusal: clip(failed, MAX_MESSAGE_BYTES) }, frame);
};

const onResponse = (now: State, frame: unknown): Spoken<State> => {
  const { data } = controlResponse.safeParse(frame);
  if (data === undefined) return { state: now };
  if (data.response.request_id.startsWith('get_settings')) return { state: now, facts: settingsOf(data.response.response) };
  if (data.response.request_id.startsWith('set_model') && data.response.subtype === 'error')
    return {
      state: now,
      events: [noticeOf('warning', `${claudeDialect.program}: ${data.response.error ?? 'it kept its model'}`)],
    };
  if (data.response.request_id !== 'initialize') return { state: now };
  return { state: now, facts: [{ kind: 'catalogue', catalogue: catalogueOf(data.response.response) }, { kind: 'ready' }] };
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
        say: [{ value: promptLine(command), prompt: command.turn }],
      };
    case 'steer':
      if (now.turn === null)
        return { state: now, facts: [{ kind: 'steered', key: command.key, refused: 'no turn runs', untaken: true }] };
      return {
        state: { ...now, unechoed: [...now.unechoed, command.key] },
        say: [{ value: saidLine(command.text) }],
      };
    case 'interrupt':
      return request(now, { subtype: 'interrupt' });
    case 'mode':
      return request(now, { subtype: 'set_permission_mode', mode: modes[command.mode] });
    case 'model':
      return tellModel(now, command);
    case 'answer':
      return answer(now, command);
  }
}

/** Its settings are read back afterwards: what it really works with is its own word. */
const tellModel = (now: State, { model, effort }: Extract<SessionCommand, { kind: 'model' }>): Spoken<State> => {
  const chosen = model === null ? 'default' : ownModel(model, { id: 'claude', provider: 'anthropic' });
  const bodies = [
    { subtype: 'set_model', model: chosen },
    ...(effort === null ? [] : [{ subtype: 'apply_flag_settings', settings: { effortLevel: effort } }]),
    { subtype: 'get_settings' },
  ];
  return bodies.reduce<Spoken<State>>(
    (told, body) => {
      const next = request(told.state, body, body.subtype);
      return { ...next, say: [...(told.say ?? []), ...(next.say ?? [])] };
    },
    { state: now },
  );
};

/** `name` comes back in front of the number of its answer. */
const request = (now: State, body: object, name = 'r'): Spoken<State> => {
  const requests = now.requests + 1;
  return {
    state: { ...now, requests },
    say: [{ value: { type: 'control_request', request_id: `${name}${requests}`, request: body } }],
  };
};

const answer = (now: State, { key, ...given }: Extract<SessionCommand, { kind: 'answer' }>): Spoken<State> => {
  const open = now.asks[key];
  if (open === undefined) throw cannotBeTold(claudeDialect.program, 'be answered what it does not ask');
  const response = { subtype: 'success', request_id: key, response: decisionOf(open, given) };
  return { state: { ...now, asks: without(now.asks, key) }, say: [{ value: { type: 'control_response', response } }] };
};

/** Claude Code in a session. */
export const claudeSession: SessionAdapter = {
  capabilities: claudeAbilities,
  program: claudeDialect.program,
  launch: claudeSessionLaunch,
  checkModel: (model) => void ownModel(model, { id: 'claude', provider: 'anthropic' }),
  hasLost: (stderr) => /^No conversation found with session ID/m.test(stderr),
  dialogue: (from) => createDialogue(dialect, from),
};
