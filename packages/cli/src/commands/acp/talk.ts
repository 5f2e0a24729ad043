// One session that an editor has open: its log is told as it grows, its questions are put, its prompts are answered.
import type { AgentContext, ContentBlock, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { methods } from '@agentclientprotocol/sdk';
import type { OrreryEvent, PermissionMode, SessionView } from '@orrery/protocol';
import { toOrreryError } from '@orrery/protocol/errors';
import { acpLimits } from './limits.ts';
import type { Link } from '../../patient-link.ts';
import type { Place } from './place.ts';
import { promptText } from './prompt-text.ts';
import { createQuestions, type Questions } from './questions.ts';
import { createTranslation, said, type Translation } from './updates.ts';
import { createWaitingPrompts, type WaitingPrompts } from './waiting.ts';

export type TalkParts = {
  readonly link: Link;
  readonly client: AgentContext;
  /** What the editor takes. */
  readonly can: { readonly notices: boolean; readonly forms: boolean };
  readonly place: Place;
  /** Finds out where the checkout is, once it is made. */
  readonly findPlace: () => Promise<void>;
  readonly newRequestId: () => string;
  /** Told before the first prompt. */
  readonly preface: string | null;
  /** What the editor is told when the session's own settings changed. */
  readonly settings: (session: SessionView) => readonly SessionUpdate[];
};

export type Talk = {
  readonly id: string;
  /** @throws OrreryError for blocks that cannot be put into words, and for a turn that failed */
  prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse>;
  /** Stops what this editor asked for. */
  cancel(): Promise<void>;
  setMode(mode: PermissionMode): Promise<SessionView>;
  /** Tells what was said before, up to now. */
  replay(): Promise<void>;
  /** Goes on telling from here. */
  open(): void;
  /** Stops telling; the session goes on. */
  close(): void;
};

/** Everything that the functions of a talk share. */
type Room = TalkParts & {
  session: SessionView;
  readonly translation: Translation;
  readonly waiting: WaitingPrompts;
  readonly questions: Questions;
  /** Request ids of this editor's own prompts, and the turns that they became: the editor shows those itself. */
  readonly own: { readonly requests: Set<string>; readonly turns: Set<number> };
  readonly stop: AbortController;
  cursor: number;
  following: boolean;
  preface: string | null;
  /** Prompts whose answer from the node is not there yet, with whether they were cancelled meanwhile. */
  readonly sending: Set<{ cancelled: boolean }>;
  tell(update: SessionUpdate): Promise<void>;
};

export const createTalk = (parts: TalkParts, session: SessionView): Talk => {
  const stop = new AbortController();
  const sessionId = session.id;
  const tell = (update: SessionUpdate): Promise<void> =>
    parts.client.notify(methods.client.session.update, { sessionId, update });
  const translation = createTranslation({ place: parts.place, notices: parts.can.notices });
  const { link, client, place, can } = parts;
  const asking = { client, sessionId, place, forms: can.forms };
  const room: Room = {
    ...parts,
    session,
    translation,
    waiting: createWaitingPrompts(),
    questions: createQuestions({ link, asking, openCall: translation.openCall, tell, signal: stop.signal }),
    own: { requests: new Set(), turns: new Set() },
    stop,
    cursor: session.sequence,
    following: false,
    sending: new Set(),
    tell,
  };
  return {
    id: sessionId,
    prompt: (blocks) => prompt(room, promptText(blocks, place)),
    cancel: () => cancel(room),
    setMode: (mode) => setMode(room, mode),
    replay: () => replay(room),
    open: () => open(room),
    close: () => {
      stop.abort();
      room.questions.close();
    },
  };
};

const prompt = async (room: Room, text: string): Promise<PromptResponse> => {
  open(room);
  const requestId = room.newRequestId();
  room.own.requests.add(requestId);
  const sending = { cancelled: false };
  room.sending.add(sending);
  try {
    if (room.preface !== null) await room.tell(said('agent_message_chunk', room.preface, 'orrery'));
    room.preface = null;
    const params = { id: room.session.id };
    const turn = await room.link.call('turnAdd', { params, body: { text, requestId }, idempotencyKey: requestId });
    const answer = room.waiting.add(turn.id);
    answer.catch(() => undefined);
    if (sending.cancelled) await cancel(room);
    // What it waits for may have happened already.
    await look(room);
    return await answer;
  } finally {
    room.sending.delete(sending);
  }
};

/** Takes back what waits, and stops the turn that is this editor's. */
const cancel = async (room: Room): Promise<void> => {
  for (const sending of room.sending) sending.cancelled = true;
  room.questions.cancelling();
  const params = { id: room.session.id };
  for (const turn of room.waiting.ids()) {
    const { items } = await room.link.call('turnList', { params });
    const found = items.find(({ id }) => id === turn);
    if (found?.state === 'pending')
      // It may have been sent in this moment; then it is stopped like any other.
      await room.link.callOnce('turnRemove', { params: { ...params, turn } }).catch(() => stopTurn(room, turn));
    else await stopTurn(room, turn);
  }
  await look(room);
};

const stopTurn = async (room: Room, turn: string): Promise<void> => {
  const params = { id: room.session.id };
  const { items } = await room.link.call('turnList', { params });
  const state = items.find(({ id }) => id === turn)?.state;
  if (state === 'dispatching' || state === 'accepted') await room.link.callOnce('sessionInterrupt', { params, body: {} });
};

const setMode = async (room: Room, mode: PermissionMode): Promise<SessionView> => {
  room.session = await room.link.call('sessionSet', { params: { id: room.session.id }, body: { mode } });
  return room.session;
};

const replay = async (room: Room): Promise<void> => {
  await room.findPlace();
  const last = room.session.sequence;
  let after = Math.max(0, last - acpLimits.replayEvents);
  if (after > 0)
    await room.tell(
      said('agent_message_chunk', `${after} earlier events are left out: \`orrery session log ${room.session.id}\`\n\n`),
    );
  while (after < last) {
    const { items } = await room.link.call('sessionLog', { params: { id: room.session.id }, query: { after, limit: 1000 } });
    for (const event of items) await tellAll(room, event);
    const end = items.at(-1)?.sequence ?? last;
    after = Math.max(after + 1, end);
    room.cursor = Math.max(room.cursor, after);
  }
};

const tellAll = async (room: Room, event: OrreryEvent): Promise<void> => {
  for (const update of room.translation.updates(event)) await room.tell(update);
};

const open = (room: Room): void => {
  if (room.following || room.stop.signal.aborted) return;
  room.following = true;
  void follow(room)
    .catch((thrown: unknown) => room.waiting.fail(toOrreryError(thrown)))
    .finally(() => (room.following = false));
};

const follow = async (room: Room): Promise<void> => {
  // What waits for a person was opened before this editor came.
  await room.questions.look();
  const { signal } = room.stop;
  const onReset = (after: number): void => {
    void room.tell(
      said('agent_message_chunk', `\n\nThe events up to ${after} are gone: \`orrery session log ${room.session.id}\`\n\n`),
    );
  };
  for await (const event of room.link.follow(room.session.id, { after: room.cursor, signal, onReset })) await take(room, event);
};

const mayChange = new Set<OrreryEvent['body']['kind']>(['turn.ended', 'turn.parked', 'state', 'interaction.opened']);

const take = async (room: Room, event: OrreryEvent): Promise<void> => {
  const { body, turn, sequence } = event;
  await room.findPlace();
  if (body.kind === 'turn.dispatched' && room.own.requests.delete(body.requestId) && turn !== null) room.own.turns.add(turn);
  if (body.kind === 'user' && turn !== null && room.own.turns.delete(turn)) {
    // The editor shows what was written in it.
  } else await tellAll(room, event);
  if (body.kind === 'turn.ended') room.waiting.ended(turn, body);
  // The list says whether it is still open: what the mode allows was answered in the same moment.
  if (body.kind === 'interaction.opened') await room.questions.look();
  if (body.kind === 'interaction.settled') await room.questions.settled(body);
  room.cursor = sequence ?? room.cursor;
  room.waiting.told(room.cursor);
  if (mayChange.has(body.kind)) await look(room);
};

/** How the session and its inputs stand now. */
const look = async (room: Room): Promise<void> => {
  const params = { id: room.session.id };
  const turns = room.waiting.ids().length === 0 ? [] : (await room.link.call('turnList', { params })).items;
  const before = room.session;
  room.session = await room.link.call('sessionShow', { params });
  if (before.mode !== room.session.mode || before.name !== room.session.name)
    for (const update of room.settings(room.session)) await room.tell(update);
  room.waiting.stand(turns, room.session);
};
