// Pi as the program of a session: `pi --mode rpc`, JSON lines both ways. It asks no permissions: every call runs in our
// sandbox, and that is said.

import {
  cannotBeTold,
  createDialogue,
  type SessionCommand,
  type SessionDialect,
  type SessionFact,
  type Spoken,
} from '../dialogue.ts';
import type { SessionAdapter, SessionContext, SessionLaunch } from '../harness.ts';
import { hearContent } from './content.ts';
import { splitModel } from '../model-name.ts';
import { saidText } from '../said.ts';
import { piAbilities, promptLine } from './orders.ts';
import { DEFAULT_MODEL, piLaunch } from './launch.ts';
import { liveOf } from './live.ts';
import { fresh, state, type State } from './session-state.ts';
import { piDialect } from './translate.ts';
import { catalogueOf, forkMessages, messageEnd, rpcResponse, stateAnswer, userText } from './wire.ts';

const dialect: SessionDialect<State> = {
  program: piDialect.program,
  schema: state,
  begin: ({ conversation, branch }) => ({
    state: {
      ...{
        inner: fresh(conversation ?? branch?.conversation ?? null),
        turn: null,
        requests: 0,
        steers: [],
        commands: [],
        heard: false,
        stop: false,
      },
      ...{
        written: [],
        content: { used: null, window: null },
        users: null,
        branch: branch === null ? undefined : branch.position,
      },
    },
    // What it is asked is answered in order: where the conversation is comes first, and branching before the rest.
    say: branch === null ? [...asking('get_fork_messages'), ...first] : asking('get_fork_messages'),
  }),
  hear(now, frame) {
    switch (frame['type']) {
      case 'response':
        return onResponse(now, frame);
      case 'agent_settled':
        return onSettled(now, frame);
      case 'message_end':
        return onMessage(now, frame);
      case 'message_update':
      case 'tool_execution_update':
        return onWriting(now, frame);
      default:
        return inner(now, frame);
    }
  },
  tell,
};

const asking = (...types: readonly string[]) => types.map((type) => ({ value: { id: type, type } }));
const first = asking('get_commands', 'get_available_models', 'get_state');

/** Rows of its dialect count from one in each turn; in a session they bear the turn too. */
const inner = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const { state: next, events, drift } = piDialect.frame(now.inner, frame);
  const rows = events.map((event) =>
    'row' in event && event.row.startsWith('response-') ? { ...event, row: rowIn(now, event.row) } : event,
  );
  const { content, events: more } = hearContent(now.content, frame);
  return { state: { ...now, inner: next, content }, events: [...rows, ...more], ...(drift === undefined ? {} : { drift }) };
};

const onWriting = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const { written, live } = liveOf(now.written, { frame, row: rowIn(now, `response-${now.inner.responses + 1}`) });
  return { ...inner({ ...now, written }, frame), live };
};

const rowIn = ({ turn }: State, row: string): string => `turn-${turn ?? 0}-${row}`;

const onMessage = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const step = inner({ ...now, written: [] }, frame);
  if (messageEnd.safeParse(frame).data?.message.role !== 'user') return step;
  const counted = { ...step, state: { ...step.state, users: now.users === null ? null : now.users + 1 } };
  if (now.turn === null) return counted;
  const [oldest, ...steers] = now.steers;
  // A steer is heard when its words are put before the model.
  if (oldest !== undefined && userText(frame) === oldest.text)
    return { ...counted, state: { ...counted.state, steers }, facts: [{ kind: 'steered', key: oldest.key, refused: null }] };
  const heard = { ...counted, state: { ...counted.state, heard: true }, facts: [{ kind: 'accepted', turn: now.turn } as const] };
  return now.stop ? { ...heard, ...aborting(heard.state) } : heard;
};

/** Asks it to stop. */
const aborting = (now: State): Required<Pick<Spoken<State>, 'state' | 'say'>> => ({
  state: { ...now, requests: now.requests + 1, stop: !now.heard },
  say: [{ value: { id: `abort:${now.requests + 1}`, type: 'abort' } }],
});

const onSettled = (now: State, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const step = inner(now, frame);
  if (now.turn === null) return step;
  const { conversation, reported } = step.state.inner;
  const late: readonly SessionFact[] = now.steers.map(({ key }) => ({
    kind: 'steered',
    key,
    refused: 'The turn was over before it was heard; the program puts it before the next one.',
  }));
  return {
    ...step,
    state: { ...step.state, inner: fresh(conversation), turn: null, steers: [] },
    facts: [...late, ...placeOf(step.state), { kind: 'ended', turn: now.turn, reported }],
  };
};

const placeOf = ({ users }: State): readonly SessionFact[] =>
  users === null || users === 0 ? [] : [{ kind: 'position', at: String(users) }];

/** It knows its messages: the place to branch at is before the first one that is not kept. */
const onMessages = (now: State, frame: unknown): Spoken<State> => {
  const messages = forkMessages.safeParse(frame).data?.messages ?? [];
  const { branch } = now;
  if (branch === undefined)
    return { state: { ...now, users: messages.length }, facts: placeOf({ ...now, users: messages.length }) };
  const kept = branch === null ? messages.length : Math.min(Number(branch), messages.length);
  const left = messages[kept];
  const value = left === undefined ? { id: 'clone', type: 'clone' } : { id: 'fork', type: 'fork', entryId: left.entryId };
  return { state: { ...now, users: kept }, say: [{ value }] };
};

/** The conversation goes on as another one. */
const onBranched = (now: State): Spoken<State> => ({
  state: { ...now, branch: undefined },
  facts: placeOf(now),
  say: first,
});

const onResponse = (now: State, frame: unknown): Spoken<State> => {
  const { data } = rpcResponse.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'frame response of another shape' };
  if (!data.success) return onRefused(now, { id: data.id ?? '', error: data.error ?? 'It was refused without a reason.' });
  switch (data.command) {
    case 'get_fork_messages':
      return onMessages(now, data.data);
    case 'fork':
    case 'clone':
      return onBranched(now);
    case 'get_commands':
      return { state: { ...now, commands: catalogueOf(data.data).commands } };
    case 'get_available_models': {
      const { models } = catalogueOf(data.data);
      return { state: now, facts: [{ kind: 'catalogue', catalogue: { models, commands: now.commands } }] };
    }
    case 'compact':
      return endCompaction(now, data.id ?? '', { kind: 'success' });
    case 'get_state': {
      const answer = stateAnswer.safeParse(data.data).data;
      const id = answer?.sessionId;
      const window = answer?.model?.contextWindow ?? null;
      const works = { kind: 'model', model: answer?.model?.id ?? null, effort: answer?.thinkingLevel ?? null } as const;
      if (data.id !== 'get_state') return { state: { ...now, content: { ...now.content, window } }, facts: [works] };
      const told: readonly SessionFact[] = [...(id === undefined ? [] : [{ kind: 'conversation', id } as const]), works];
      return {
        state: { ...now, inner: { ...now.inner, conversation: id ?? null }, content: { ...now.content, window } },
        facts: [...told, { kind: 'ready' }],
      };
    }
    default:
      return { state: now };
  }
};

/** A summing up has no turn of its own in the program: its answer is the end. */
const endCompaction = (now: State, id: string, reported: State['inner']['reported']): Spoken<State> => {
  if (now.turn === null || id !== `compact:${now.turn}`) return { state: now };
  return {
    state: { ...now, inner: fresh(now.inner.conversation), turn: null },
    facts: [
      { kind: 'accepted', turn: now.turn },
      { kind: 'ended', turn: now.turn, reported },
    ],
  };
};

/** What it does not take is the end of that prompt or steer, with its own words. */
const onRefused = (now: State, { id, error }: { readonly id: string; readonly error: string }): Spoken<State> => {
  if (id.startsWith('steer:')) {
    const key = id.slice('steer:'.length);
    return {
      state: { ...now, steers: now.steers.filter((one) => one.key !== key) },
      facts: [{ kind: 'steered', key, refused: error, untaken: true }],
    };
  }
  if (id.startsWith('compact:'))
    return endCompaction(now, id, { kind: 'failure', failure: 'program', message: error, resetsAt: null });
  if (id.startsWith('model:'))
    return {
      state: now,
      events: [{ kind: 'notice', level: 'warning', text: `Pi: ${error}. It holds from its next start.` }],
    };
  if (id === `prompt:${now.turn}` && now.turn !== null)
    return {
      state: { ...now, inner: fresh(now.inner.conversation), turn: null },
      facts: [
        { kind: 'ended', turn: now.turn, reported: { kind: 'failure', failure: 'program', message: error, resetsAt: null } },
      ],
    };
  return { state: now, events: [{ kind: 'notice', level: 'warning', text: `Pi: ${error}` }] };
};

const steered = (now: State, steer: State['steers'][number]): Spoken<State> => ({
  state: { ...now, steers: [...now.steers, steer] },
  say: [{ value: { id: `steer:${steer.key}`, type: 'steer', message: steer.text } }],
});

function tell(now: State, command: SessionCommand): Spoken<State> {
  switch (command.kind) {
    case 'prompt': {
      if (command.action === 'compact') return compact(now, command);
      return {
        state: { ...now, inner: fresh(now.inner.conversation), turn: command.turn, heard: false, stop: false },
        // It tells no start of its own in this mode.
        events: [{ kind: 'turn.started', conversation: now.inner.conversation, model: null }],
        say: [{ value: promptLine(command), prompt: command.turn }],
      };
    }
    case 'steer':
      if (now.turn === null)
        return { state: now, facts: [{ kind: 'steered', key: command.key, refused: 'No turn runs.', untaken: true }] };
      return steered(now, { key: command.key, text: saidText(command.text) });
    case 'interrupt':
      return aborting(now);
    case 'model':
      return tellModel(now, command);
    case 'mode':
      throw cannotBeTold(piDialect.program, 'ask before it acts: it does everything it is asked for');
    case 'answer':
      throw cannotBeTold(piDialect.program, 'be answered: it asks nothing');
  }
}

const compact = (now: State, { turn, text }: Extract<SessionCommand, { kind: 'prompt' }>): Spoken<State> => {
  const kept = text.replace(/^\/compact\s*/, '');
  const value = { id: `compact:${turn}`, type: 'compact', ...(kept === '' ? {} : { customInstructions: kept }) };
  return {
    state: { ...now, inner: fresh(now.inner.conversation), turn },
    events: [{ kind: 'turn.started', conversation: now.inner.conversation, model: null }],
    say: [{ value, prompt: turn }],
  };
};

/** It knows the models of its settings alone: another one holds from its next start, and that is said. */
const tellModel = (now: State, { model, effort }: Extract<SessionCommand, { kind: 'model' }>): Spoken<State> => {
  const requests = now.requests + 1;
  const chosen = splitModel(model ?? DEFAULT_MODEL, 'anthropic').model;
  return {
    state: { ...now, requests },
    say: [
      { value: { id: `model:${requests}`, type: 'set_model', provider: 'orrery', modelId: chosen } },
      ...(effort === null ? [] : [{ value: { id: `effort:${requests}`, type: 'set_thinking_level', level: effort } }]),
      { value: { id: `settings:${requests}`, type: 'get_state' } },
    ],
  };
};

const launch = (context: SessionContext): SessionLaunch =>
  piLaunch({ ...context, conversation: context.conversation ?? context.branch?.conversation ?? null }, ['--mode', 'rpc']);

/** Pi in a session. */
export const piSession: SessionAdapter = {
  capabilities: piAbilities,
  program: piDialect.program,
  launch,
  // It keeps a conversation from its first answer on.
  hasLost: (stderr) => /^No session found matching/m.test(stderr),
  dialogue: (from) => createDialogue(dialect, from),
};
