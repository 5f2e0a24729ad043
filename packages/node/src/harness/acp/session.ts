// An agent of the Agent Client Protocol as the program of a session: one process for many turns, JSON-RPC both ways.

import { createDialogue, cannotBeTold, type SessionCommand, type SessionDialect } from '../dialogue.ts';
import { noticeOf } from '../frames.ts';
import type { SessionAdapter } from '../harness.ts';
import { saidOutright } from '../said.ts';
import { answer, askOf, withdraw, withdrawAll } from './asks.ts';
import { failureOfPrompt, reportedOf, wordsOf } from './failures.ts';
import { begin, learnSettings, modeFact, onInitialized, onLogin, onNotOpened, onOpened, settled, tellMode } from './opening.ts';
import { acpCapabilities, type AcpPreset } from './preset.ts';
import { joined, noTokens, request, state, without, type State, type Step } from './state.ts';
import { flushed, onCall, onUpdate } from './updates.ts';
import * as wire from './wire.ts';

type Frame = Readonly<Record<string, unknown>>;

/** The dialect of one agent. */
export const acpDialect = (preset: AcpPreset): SessionDialect<State> => ({
  program: preset.program,
  schema: state,
  begin,
  hear(now, frame) {
    const { method } = frame;
    if (typeof method !== 'string') return onAnswer(now, frame, preset);
    return frame['id'] === undefined ? onNotice(now, { method, frame }, preset) : onRequest(now, frame, preset);
  },
  tell: (now, command) => tell(now, command, preset),
});

const onAnswer = (before: State, frame: Frame, preset: AcpPreset): Step => {
  const { data } = wire.answerFrame.safeParse(frame);
  const purpose = data === undefined ? undefined : before.pending[String(data.id)];
  if (data === undefined || purpose === undefined) return { state: before, drift: 'answer to nothing' };
  const now = { ...before, pending: without(before.pending, String(data.id)) };
  const { error, result } = data;
  switch (purpose) {
    case 'initialize':
      if (error === undefined) return onInitialized(now, result, preset);
      return { state: now, facts: [{ kind: 'unfit', reason: `${preset.program}: ${wordsOf(error)}` }] };
    case 'login':
      return onLogin(now, error, preset);
    case 'open':
      return error === undefined ? onOpened(now, result, preset) : onNotOpened(now, error, preset);
    case 'setting':
      return settled(onSet(now, { error, result }, preset));
    case 'prompt':
      return onEnd(now, { error, result }, preset);
  }
};

type Answer = Pick<NonNullable<ReturnType<typeof wire.answerFrame.safeParse>['data']>, 'error' | 'result'>;

/** Mode, model or effort: it has it, or says why not. */
const onSet = (now: State, { error, result }: Answer, { program }: AcpPreset): Step => {
  if (error !== undefined) return { state: now, events: [noticeOf('warning', `${program}: ${wordsOf(error)}`)] };
  const { data } = wire.settings.safeParse(result);
  return data === undefined ? { state: now } : learnSettings(now, data);
};

/** The turn is over. */
const onEnd = (now: State, { error, result }: Answer, preset: AcpPreset): Step => {
  const { turn } = now;
  if (turn === null) return { state: now };
  const first = joined(withdrawAll(now), flushed({ ...now, asks: {} }, preset.program));
  const { data } = wire.prompted.safeParse(result);
  const { usage, counted } = tokensOf(first.state, data, preset);
  const reported = error === undefined ? reportedOf(data?.stopReason ?? 'none', preset.hidesFailures) : failureOfPrompt(error);
  const given = reported?.kind === 'stopped' && !now.stopped ? givenUp(preset.program) : null;
  const { input, output, cached } = usage;
  const told =
    input + output === 0 ? [] : [{ kind: 'usage', inputTokens: input, outputTokens: output, cachedTokens: cached } as const];
  return joined(first, {
    state: { ...first.state, turn: null, calls: {}, usage: noTokens, counted },
    events: told,
    facts: [
      ...accepted(now),
      { kind: 'ended', turn, reported: given ?? reported },
      ...(given === null ? [] : [unfit(given.message)]),
    ],
  });
};

/** It says that the turn was cancelled, and nobody did: what it told is not whole, and it may tell nothing any more. */
const givenUp = (program: string) =>
  ({
    kind: 'failure',
    failure: 'program',
    message: `${program} gave the turn up by itself; it is started anew for the next one.`,
    resetsAt: null,
  }) as const;

const unfit = (reason: string) => ({ kind: 'unfit', reason }) as const;

/** Tokens of the turn: told with its end, or with its model calls before. */
const tokensOf = (
  { usage, counted }: State,
  data: ReturnType<typeof wire.prompted.safeParse>['data'],
  { counts }: AcpPreset,
): Pick<State, 'usage' | 'counted'> => {
  const quota = data?._meta?.quota.token_count;
  const said = data?.usage;
  if (said == null && quota === undefined) return { usage, counted };
  const now = {
    input: said?.inputTokens ?? quota?.input_tokens ?? 0,
    output: said?.outputTokens ?? quota?.output_tokens ?? 0,
    cached: said?.cachedReadTokens ?? 0,
  };
  if (counts === 'turn') return { usage: now, counted };
  const since = (name: 'input' | 'output' | 'cached'): number => Math.max(0, now[name] - counted[name]);
  return { usage: { input: since('input'), output: since('output'), cached: since('cached') }, counted: now };
};

const accepted = (now: State) => (now.accepted || now.turn === null ? [] : [{ kind: 'accepted', turn: now.turn } as const]);

/** Anything of the turn confirms that it has the prompt. */
const heard = (now: State, step: Step): Step => {
  const facts = accepted(now);
  if (facts.length === 0) return step;
  return { ...step, state: { ...step.state, accepted: true }, facts: [...facts, ...(step.facts ?? [])] };
};

const onNotice = (now: State, { method, frame }: { method: string; frame: Frame }, preset: AcpPreset): Step => {
  if (method === 'session/update') return onSessionUpdate(now, frame, preset);
  if (method === '$/cancel_request') {
    const { data } = wire.cancelNotice.safeParse(frame);
    return data === undefined ? { state: now } : withdraw(now, JSON.stringify(data.params.requestId));
  }
  return preset.quiet.includes(method) ? { state: now } : { state: now, drift: `notice ${method}`.slice(0, 80) };
};

const onSessionUpdate = (now: State, frame: Frame, preset: AcpPreset): Step => {
  const { data } = wire.updateNotice.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'session/update of another shape' };
  const { sessionId, update } = data.params;
  if (now.session !== null && sessionId !== now.session) return { state: now, drift: 'update of another conversation' };
  switch (update.sessionUpdate) {
    case 'available_commands_update': {
      const all = wire.commands.safeParse(update).data?.availableCommands ?? [];
      const commands = all.filter(({ name }) => preset.withheld?.includes(name) !== true);
      return { state: now, facts: [{ kind: 'catalogue', catalogue: { commands } }] };
    }
    case 'current_mode_update': {
      const mode = wire.currentMode.safeParse(update).data?.currentModeId;
      return mode === undefined ? { state: now } : { state: { ...now, mode }, facts: [modeFact(mode)] };
    }
    case 'config_option_update': {
      const found = wire.settings.safeParse(update).data;
      return found === undefined ? { state: now } : learnSettings(now, found);
    }
    default:
      // What it tells of a conversation that it goes on with is in the log already.
      if (now.resumed && now.last === 0) return { state: now };
      return tells(update.sessionUpdate) ? heard(now, onUpdate(now, update, preset)) : onUpdate(now, update, preset);
  }
};

/** Whether an update is of the running turn: a title or the size of the context may come at any time. */
const tells = (kind: string): boolean => kind !== 'session_info_update' && kind !== 'usage_update' && kind !== 'notice';

/** What clients may offer and this one does not; some ask all the same. */
const NOT_OFFERED = /^(fs|terminal|elicitation|mcp)\//;

const onRequest = (now: State, frame: Frame, preset: AcpPreset): Step => {
  const { data } = wire.requestFrame.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'request of another shape' };
  const { id, method, params } = data;
  if (method === 'session/request_permission') return heard(now, onPermission(now, { id, params }, preset));
  const error = { code: -32_601, message: `This client does not offer ${method}.` };
  const known = NOT_OFFERED.test(method) || preset.quiet.includes(method);
  return {
    state: now,
    say: [{ value: { jsonrpc: '2.0', id, error } }],
    ...(known ? {} : { drift: `request ${method}`.slice(0, 80) }),
  };
};

type Id = ReturnType<typeof wire.requestId.parse>;

const onPermission = (now: State, { id, params }: { id: Id; params: unknown }, { program }: AcpPreset): Step => {
  const { data } = wire.permission.safeParse(params);
  if (data === undefined) {
    const error = { code: -32_602, message: 'This question has no tool call and choices of the protocol.' };
    return { state: now, say: [{ value: { jsonrpc: '2.0', id, error } }], drift: 'question of another shape' };
  }
  const { toolCall, options } = data;
  const known = now.calls[toolCall.toolCallId] ?? null;
  const key = JSON.stringify(id);
  const first = flushed(now, program);
  const ask = askOf(toolCall, { options, known });
  const called = joined(first, onCall(first.state, { ...toolCall, status: 'in_progress' }));
  return {
    ...called,
    state: { ...called.state, asks: { ...called.state.asks, [key]: { id, options, what: ask.command ?? ask.title } } },
    facts: [{ kind: 'asks', key, ask }],
  };
};

type Prompt = Extract<SessionCommand, { kind: 'prompt' }>;

/** Words with a leading slash are no command; a command is given as it is, and the order to sum up by the program's own name. */
const promptOf = ({ text, action = 'say' }: Prompt, { compact }: AcpPreset): string => {
  if (action === 'say') return saidOutright(text);
  return action === 'compact' ? text.replace(/^\/compact/, compact ?? '/compact') : text;
};

const blocksOf = (prompt: Prompt, preset: AcpPreset): readonly object[] => [
  { type: 'text', text: promptOf(prompt, preset) },
  ...(prompt.images ?? []).map(({ mediaType, base64 }) => ({ type: 'image', mimeType: mediaType, data: base64 })),
];

/** What was not allowed goes with words; a command is given as it is. */
const promptParams = (now: State, command: Prompt, preset: AcpPreset): { readonly params: object; readonly notes: string[] } => {
  const blocks = blocksOf(command, preset);
  const tells = (command.action ?? 'say') === 'say';
  const told = tells ? now.notes.map((text) => ({ type: 'text', text })) : [];
  return { params: { sessionId: now.session, prompt: [...told, ...blocks] }, notes: tells ? [] : now.notes };
};

const tell = (now: State, command: SessionCommand, preset: AcpPreset): Step => {
  switch (command.kind) {
    case 'prompt': {
      const { params, notes } = promptParams(now, command, preset);
      const fresh = {
        turn: command.turn,
        last: command.turn,
        accepted: false,
        stopped: false,
        notes,
        rows: 0,
        text: null,
        calls: {},
        usage: noTokens,
      };
      const step = request({ ...now, ...fresh }, { purpose: 'prompt', method: 'session/prompt', params, prompt: command.turn });
      return { ...step, events: [{ kind: 'turn.started', conversation: now.session, model: null }] };
    }
    case 'interrupt': {
      if (now.turn === null) return { state: now };
      const value = { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: now.session } };
      return joined({ say: [{ value }] }, withdrawAll({ ...now, stopped: true }));
    }
    case 'mode':
      return tellMode(now, preset, command.mode);
    case 'answer':
      return answer(now, command, preset.program);
    case 'model':
      throw cannotBeTold(preset.program, 'change its model while it runs; it has another from its next start on');
    case 'steer':
      throw cannotBeTold(preset.program, 'take words into the turn that runs');
  }
};

/** The session part of an adapter for an agent of this protocol. */
export const acpSession = (preset: AcpPreset, launch: SessionAdapter['launch']): SessionAdapter => ({
  capabilities: acpCapabilities(preset),
  program: preset.program,
  launch,
  ...(preset.quietRetries === undefined ? {} : { quietRetries: preset.quietRetries }),
  ...(preset.takesUpFrom === undefined ? {} : { takesUpFrom: preset.takesUpFrom }),
  // It says so in its dialogue, and a new conversation is begun there.
  hasLost: () => false,
  dialogue: (from) => createDialogue(acpDialect(preset), from),
});
