// Follows a session's program to its end: its output becomes rows, what it is to be told is written at most once.

import type { RunEnd } from '../../exec/backend.ts';
import type { DialogueStep } from '../../harness/dialogue.ts';
import { OUTPUT_TAKEN_BYTES, STDERR_TAIL_BYTES } from '../../kernel/limits.ts';
import { OrreryError } from '@orrery/protocol';
import { findSessionRun, findTurn, framesOf, removeFrames, updateTurn, type TurnRow } from '../../session/index.ts';
import { joinedOutput } from '../joined-output.ts';
import { carryBack } from './carry-back.ts';
import { commitSteps } from './commit.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { tellAll } from './tell.ts';

/** Reads until the program's streams end; answers how it ended. Rejects when the view is lost, and then the program may run on. */
export const followProgram = async (parts: SessionConductorParts, live: Live): Promise<RunEnd> => {
  await attend(parts, live);
  await Promise.all([hear(parts, live), hearErrors(parts, live)]);
  const end = await live.handle.wait();
  // Only now is a line without its end the last one.
  await live.turns.run('', () => commitSteps(parts, live, { steps: [live.dialogue.end()] }));
  return end;
};

/** Tells the program what stands in the rows, and writes what was not written yet. */
export const attend = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  await live.turns.run('', () => tellAll(parts, live));
  // Not awaited by whoever reads: a program that takes no input must still be heard.
  live.writes
    .run('', () => writeFrames(parts, live))
    .catch((thrown: unknown) => {
      if (thrown instanceof OrreryError && ['conflict', 'unsupported', 'keeper_lost', 'stale'].includes(thrown.code)) return;
      parts.log.warn('session.write.failed', { session: live.sessionId, error: String((thrown as Error).message) });
    });
};

const hear = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  let committed = live.dialogue.position().offset;
  for await (const { bytes } of joinedOutput(live.handle.output('stdout', committed), OUTPUT_TAKEN_BYTES)) {
    live.quietSince = parts.clock.nowMs();
    const offset = await live.turns.run('', () => takeIn(parts, live, bytes));
    parts.atKillPoint('session-output-committed', live.program);
    if (offset > committed) await live.handle.release('stdout', offset);
    committed = offset;
    await attend(parts, live);
  }
};

const takeIn = async (parts: SessionConductorParts, live: Live, bytes: Uint8Array): Promise<number> => {
  const before = live.dialogue.position().offset;
  const steps = live.dialogue.push(bytes);
  showLive(parts, live, steps);
  const { offset } = live.dialogue.position();
  if (offset > before) await commitSteps(parts, live, { steps, position: { stdout_offset: offset } });
  if (steps.some(({ facts }) => facts.some(({ kind }) => kind === 'ended'))) carryBack(parts, live);
  return offset;
};

/** Readers see what is being written at once, before anything is stored; nobody waits for them. */
const showLive = ({ liveTexts }: SessionConductorParts, { sessionId }: Live, steps: readonly DialogueStep[]): void => {
  for (const { live, events, facts } of steps) {
    for (const piece of live) liveTexts.add(sessionId, piece);
    for (const body of events)
      if (body.kind === 'text' || body.kind === 'thinking' || body.kind === 'tool.result') liveTexts.over(sessionId, body);
    if (facts.some(({ kind }) => kind === 'ended')) liveTexts.clear(sessionId);
  }
};

/** What it says beside is only kept as a tail that explains an end. */
const hearErrors = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  const run = await findSessionRun(parts.store.read, live.runId);
  let tail = run?.stderr_tail ?? '';
  const decoder = new TextDecoder();
  for await (const { offset, bytes } of live.handle.output('stderr', run?.stderr_offset ?? 0)) {
    tail = (tail + decoder.decode(bytes, { stream: true })).slice(-STDERR_TAIL_BYTES);
    const position = { stderr_offset: offset + bytes.length, stderr_tail: tail };
    await live.turns.run('', () => commitSteps(parts, live, { steps: [], position }));
    await live.handle.release('stderr', position.stderr_offset);
  }
};

/** Each frame is written once: the keeper knows it by its name, and a frame that it has is not written again. */
const writeFrames = async (parts: SessionConductorParts, live: Live): Promise<void> => {
  const { sessionId, generation, handle } = live;
  for (;;) {
    const frames = await framesOf(parts.store.read, sessionId, generation);
    if (frames.length === 0) return;
    for (const { key, text } of frames) {
      await parts.held();
      const { state } = await handle.write(key, new TextEncoder().encode(text));
      parts.atKillPoint('session-frame-written', live.program);
      if (state !== 'written') return;
      live.quietSince = parts.clock.nowMs();
    }
    await parts.store.transaction((tx) => removeFrames(tx.db, { sessionId, generation, keys: frames.map(({ key }) => key) }));
  }
};

/** What becomes of an input that the program never got: it waits again, or it is over when somebody stopped it. */
export const backInQueue = ({ cancel_requested }: Pick<TurnRow, 'cancel_requested'>, nowMs: number): TurnChange =>
  cancel_requested === 1
    ? { state: 'ended', outcome: 'cancelled', reason: 'stopped before it was sent', ended_at: nowMs }
    : { state: 'pending', turn: null, generation: null, started_at: null };

type TurnChange = Parameters<typeof updateTurn>[2];

/**
 * The program has ended: an input that it never got goes back to those that wait; one that it may have got, and never
 * confirmed, is uncertain and a person's to decide.
 */
export const unsentTurns = async (
  parts: SessionConductorParts,
  live: Pick<Live, 'sessionId' | 'generation'>,
  handle: Live['handle'] | null,
): Promise<void> => {
  const { store } = parts;
  for (const { key, turn_id } of await framesOf(store.read, live.sessionId, live.generation)) {
    if (turn_id === null) continue;
    const turn = await findTurn(store.read, live.sessionId, turn_id);
    if (turn?.state !== 'dispatching') continue;
    const state = handle === null ? 'partial' : (await handle.inputState(key)).state;
    if (state === 'unwritten')
      await store.transaction((tx) => updateTurn(tx.db, turn.id, backInQueue(turn, parts.clock.nowMs())));
  }
};
