// Codex as the program of a session: `codex app-server`, threads and turns over JSON lines both ways.

import {
  cannotBeTold,
  createDialogue,
  type DialogueStart,
  type SessionCommand,
  type SessionDialect,
  type SessionFact,
  type Spoken,
} from '../dialogue.ts';
import { clip } from '../clip.ts';
import { noticeOf } from '../frames.ts';
import type { SessionAdapter, SessionContext, SessionLaunch } from '../harness.ts';
import { INLINE_BODY_BYTES } from '../limits.ts';
import { ownModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { notAllowed } from '../not-allowed.ts';
import { askOf, resultOf } from './asks.ts';
import { codexModel, configFile } from './launch.ts';
import { onNotice } from './notices.ts';
import { interrupt, nothingTold, noUsage, state, without, type State } from './session-state.ts';
import { answerFrame, modelList, requestFrame, threadAnswer, threadSettings, turnAnswer } from './session-wire.ts';

const program = 'Codex';

/** It asks before everything that it does not hold for harmless; what a mode allows, the node answers at once. */
const POLICY = 'untrusted';

const dialect: SessionDialect<State> = {
  program,
  schema: state,
  begin: ({ conversation, branch, workdir, model, effort }) => {
    // A thread that is resumed keeps what it worked with unless it is told otherwise.
    const thinking = conversation === null && branch == null ? null : { model, effort, told: false };
    const start = { cwd: workdir, approvalPolicy: POLICY, sandbox: 'danger-full-access' };
    const clientInfo = { name: 'orrery', title: 'Orrery', version: '1' };
    const thread = beginThread(start, { conversation, branch });
    return {
      state: {
        ...{
          thread: conversation ?? branch?.conversation ?? null,
          start,
          turn: null,
          turnId: null,
          stop: false,
          requests: 0,
          steers: [],
          asks: {},
          changes: [],
        },
        ...{ usage: noUsage, failure: null, ...nothingTold, thinking },
      },
      say: [
        { value: { id: 'initialize', method: 'initialize', params: { clientInfo } } },
        { value: { method: 'initialized' } },
        { value: { id: 'models', method: 'model/list', params: {} } },
        { value: thread },
      ],
    };
  },
  hear(now, frame) {
    const { method } = frame;
    if (typeof method !== 'string') return onAnswer(now, frame);
    return frame['id'] === undefined ? onNotice(now, method, frame) : onRequest(now, frame);
  },
  tell,
};

const beginThread = (start: object, { conversation, branch }: Pick<DialogueStart, 'conversation' | 'branch'>): object => {
  const id = 'thread';
  if (branch !== null) {
    const through = branch.position === null ? {} : { lastTurnId: branch.position };
    return { id, method: 'thread/fork', params: { ...start, threadId: branch.conversation, ...through } };
  }
  if (conversation === null) return { id, method: 'thread/start', params: start };
  return { id, method: 'thread/resume', params: { ...start, threadId: conversation } };
};

const onAnswer = (now: State, frame: unknown): Spoken<State> => {
  const { data } = answerFrame.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'frame without a method' };
  const id = String(data.id);
  if (data.error !== undefined) return onRefused(now, id, data.error.message);
  if (id === 'models')
    return { state: now, facts: [{ kind: 'catalogue', catalogue: { models: modelsOf(data.result), commands: [] } }] };
  if (id === 'settings') return { state: now, facts: settingsOf(data.result) };
  if (id === 'thread') {
    const answered = threadAnswer.safeParse(data.result).data;
    const thread = answered?.thread.id ?? now.thread;
    const mode = answered?.approvalPolicy;
    const lastTurn = answered?.thread.turns.at(-1)?.id;
    if (thread === null) return { state: now, drift: 'thread/start answered without a thread' };
    return {
      state: { ...now, thread },
      facts: [
        { kind: 'conversation', id: thread },
        ...(lastTurn === undefined ? [] : [{ kind: 'position', at: lastTurn } as const]),
        ...(typeof mode === 'string' ? [{ kind: 'mode', mode } as const] : []),
        ...settingsOf(data.result),
        { kind: 'ready' },
      ],
    };
  }
  // One that comes late speaks of a turn that is over.
  if (now.turn === null || id !== `turn:${now.turn}`) return { state: now };
  const turnId = turnAnswer.safeParse(data.result).data?.turn.id ?? now.turnId;
  const read = now.thinking?.told === false && now.action === 'say';
  const known: State = {
    ...now,
    turnId,
    thinking: read && now.thinking !== null ? { ...now.thinking, told: true } : now.thinking,
  };
  // It names a turn before it can stop it; a summing up is named by its start.
  const stopped = now.stop && turnId !== null && now.begun === turnId ? interrupt(known) : { state: known };
  const asks = read ? [{ value: { id: 'settings', method: 'thread/read', params: { threadId: now.thread } } }] : [];
  return { ...stopped, say: [...(stopped.say ?? []), ...asks], facts: [{ kind: 'accepted', turn: now.turn }] };
};

/** What a thread works with, by its own word. */
const settingsOf = (result: unknown): readonly SessionFact[] => {
  const thread = threadSettings.safeParse(result).data?.thread;
  return thread === undefined ? [] : [{ kind: 'model', model: thread.model, effort: thread.reasoningEffort }];
};

const modelsOf = (result: unknown) =>
  (modelList.safeParse(result).data?.data ?? [])
    .filter(({ hidden }) => !hidden)
    .map(({ id, displayName, supportedReasoningEfforts }) => ({
      id,
      name: displayName ?? id,
      efforts: supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort),
    }));

const onRefused = (now: State, id: string, message: string): Spoken<State> => {
  if (id.startsWith('steer:')) {
    const key = id.slice('steer:'.length);
    return {
      state: { ...now, steers: now.steers.filter((one) => one.key !== key) },
      facts: [{ kind: 'steered', key, refused: message, untaken: true }],
    };
  }
  if (id === `turn:${now.turn}` && now.turn !== null)
    return {
      state: { ...now, turn: null, turnId: null },
      facts: [{ kind: 'ended', turn: now.turn, reported: { kind: 'failure', failure: 'program', message, resetsAt: null } }],
    };
  const notice = noticeOf('warning', `${program}: ${message}`);
  // A conversation that was never stored is replaced by a new one; everything else is said.
  if (id !== 'thread' || now.thread === null) return { state: now, events: [notice] };
  return {
    state: { ...now, thread: null },
    events: [notice],
    say: [{ value: { id: 'thread', method: 'thread/start', params: now.start } }],
  };
};

const onRequest = (now: State, frame: unknown): Spoken<State> => {
  const { data } = requestFrame.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'request of another shape' };
  const { id, method, params } = data;
  const ask = askOf(method, params, now.changes);
  if (ask === null) {
    const error = { code: -32601, message: 'This client does not answer that.' };
    return { state: now, say: [{ value: { id, error } }], drift: `request ${method}`.slice(0, 80) };
  }
  const key = String(id);
  const what = clip(ask.command ?? ask.title, INLINE_BODY_BYTES);
  return { state: { ...now, asks: { ...now.asks, [key]: { id, method, what } } }, facts: [{ kind: 'asks', key, ask }] };
};

/** What begins a turn. Model and effort go with it from when they were changed; they hold for the turns after it too. */
const startOf = (
  now: State,
  { turn, text, action = 'say', images = [] }: Extract<SessionCommand, { kind: 'prompt' }>,
): object => {
  const { thread: threadId, thinking } = now;
  if (action === 'compact') return { id: `turn:${turn}`, method: 'thread/compact/start', params: { threadId } };
  const { model, effort } = thinking ?? { model: null, effort: null };
  const chosen = {
    ...(model === null ? {} : { model: ownModel(model, { id: 'codex', provider: 'openai' }) }),
    ...(effort === null ? {} : { effort }),
  };
  const pictures = images.map(({ path }) => ({ type: 'localImage', path }));
  const input = [...(text === '' ? [] : words(text)), ...pictures];
  return { id: `turn:${turn}`, method: 'turn/start', params: { threadId, input, ...chosen } };
};

const words = (text: string) => [{ type: 'text', text }];

function tell(now: State, command: SessionCommand): Spoken<State> {
  const { thread: threadId, turnId } = now;
  switch (command.kind) {
    case 'prompt': {
      const value = startOf(now, command);
      const action = command.action ?? 'say';
      return {
        state: { ...now, action, turn: command.turn, turnId: null, stop: false, usage: noUsage, failure: null },
        events: [{ kind: 'turn.started', conversation: threadId, model: null }],
        say: [{ value, prompt: command.turn }],
      };
    }
    case 'steer': {
      if (turnId === null)
        return { state: now, facts: [{ kind: 'steered', key: command.key, refused: 'No turn runs.', untaken: true }] };
      const params = { threadId, expectedTurnId: turnId, input: words(command.text) };
      return {
        state: { ...now, steers: [...now.steers, { key: command.key, text: command.text }] },
        say: [{ value: { id: `steer:${command.key}`, method: 'turn/steer', params } }],
      };
    }
    case 'interrupt':
      return turnId === null || now.begun !== turnId ? { state: { ...now, stop: true } } : interrupt(now);
    case 'model':
      return { state: { ...now, thinking: { model: command.model, effort: command.effort, told: false } } };
    case 'mode':
      // It asks as ever: the node knows the mode, and answers by it.
      return { state: now };
    case 'answer':
      return answer(now, command);
  }
}

const answer = (now: State, { key, ...given }: Extract<SessionCommand, { kind: 'answer' }>): Spoken<State> => {
  const asked = now.asks[key];
  if (asked === undefined) throw cannotBeTold(program, 'be answered what it does not ask');
  const value = { id: asked.id, result: resultOf(asked.method, given) };
  const answered = { ...now, asks: without(now.asks, key) };
  // Its answers have no room for a reason: it is told as words into the turn.
  const note = notAllowed(asked.what, given);
  if (note === null || now.turnId === null) return { state: answered, say: [{ value }] };
  const requests = now.requests + 1;
  const params = { threadId: now.thread, expectedTurnId: now.turnId, input: words(note) };
  return {
    state: { ...answered, requests },
    events: [noticeOf('info', `${program} is told why, as words into its turn.`)],
    // The words first: once it is answered it asks its model, which is to know them already.
    say: [{ value: { id: `note:${requests}`, method: 'turn/steer', params } }, { value }],
  };
};

const launch = (context: SessionContext): SessionLaunch => {
  const { executable, directory } = requireProgram(context.program, 'codex');
  return {
    command: executable,
    args: ['app-server'],
    // Without this variable it would look for its files below the real user's home.
    env: { CODEX_HOME: `${context.home}/.codex` },
    homeFiles: { '.codex/config.toml': configFile(context, codexModel(context)) },
    programPaths: [directory],
  };
};

/** Codex in a session. */
export const codexSession: SessionAdapter = {
  capabilities: {
    steer: true,
    approvals: true,
    questions: true,
    modes: ['ask', 'edits', 'all'],
    commands: false,
    models: true,
    fork: 'native',
    rewind: 'native',
    effort: true,
    images: true,
    files: true,
    plans: true,
    context: true,
    compaction: true,
    subAgents: true,
    backgroundTasks: false,
    toolGate: 'before',
    missing: {
      commands: 'Its protocol has no commands.',
      backgroundTasks: 'A command that goes on after its turn is not told as such.',
    },
  },
  program,
  launch,
  checkModel: (model) => void ownModel(model, { id: 'codex', provider: 'openai' }),
  // It says so in its dialogue, and goes on.
  hasLost: () => false,
  dialogue: (from) => createDialogue(dialect, from),
};
