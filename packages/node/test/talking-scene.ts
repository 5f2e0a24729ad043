// A scene of sessions: a place, a node in it, and what a test waits for. The clock of sessions goes on while it waits.

import type { SessionCreate, SessionView, TurnView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, vi } from 'vitest';
import { SESSION_TICK_MS } from '../src/kernel/limits.ts';
import { createTalkingPlace, type Talker, type TalkingNode, type TalkingPlace } from './talking-place.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Waits for something, while the clock of sessions goes on. */
export const until = async <T>(what: string, look: () => Promise<T | null | false> | T | null | false): Promise<T> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const found = await look();
    if (found !== null && found !== false) return found;
    vi.advanceTimersByTime(SESSION_TICK_MS);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`waited in vain: ${what}`);
};

/** The words of an input that a program was given, or null. */
export const wordsOf = (frame: { readonly [key: string]: unknown }): string | null => {
  const message = frame['message'] as { content: { text: string }[] } | undefined;
  return message?.content[0]?.text ?? null;
};

/** What the program says: that it took words, that a turn began, that it ended. */
export const echo = (text: string) => ({
  ...{ type: 'user', isReplay: true },
  message: { role: 'user', content: [{ type: 'text', text }] },
});
export const init = { type: 'system', subtype: 'init', session_id: 'c1', model: 'm', permissionMode: 'default' };
export const result = { type: 'result', subtype: 'success', is_error: false, session_id: 'c1', result: 'ok' };

/** The code with which something is refused. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (thrown: unknown) => (thrown instanceof OrreryError ? thrown.code : String(thrown)),
  );

/** Makes a new place and a node before each test of a file. */
export const createScene = () => {
  const scene = {} as { place: TalkingPlace; node: TalkingNode };
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    scene.place = await createTalkingPlace();
    scene.node = await scene.place.start();
    scene.node.talking.watch();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await scene.place.close();
  });

  const turnsOf = (id: string): Promise<TurnView[]> => scene.node.sessions.turns(id);
  return {
    scene,
    turnsOf,
    begin: (more: Partial<SessionCreate> = {}): Promise<SessionView> =>
      scene.node.sessions.create(scene.place.asked({ prompt: 'one', ...more })),
    stateIs: (id: string, state: SessionView['state']): Promise<SessionView> =>
      until(`the session to be ${state}`, async () => {
        const view = await scene.node.sessions.show(id);
        return view.state === state ? view : null;
      }),
    turnIs: (id: string, text: string, state: TurnView['state']): Promise<TurnView> =>
      until(
        `${text} to be ${state}`,
        async () => (await turnsOf(id)).find((turn) => turn.text === text && turn.state === state) ?? null,
      ),
    /** The newest program that runs and was given these words. */
    given: (text: string): Promise<Talker> =>
      until(
        `the program to be given ${text}`,
        () =>
          scene.place.talkers.findLast(({ ended, heard }) => !ended && heard.some((frame) => wordsOf(frame) === text)) ?? null,
      ),
    /** Once the node has read everything that a program said, or it has ended. */
    heardAll: (talker: Talker): Promise<boolean> =>
      until('the program to be heard', async () => {
        const { read } = scene.place.store;
        const row = await read
          .selectFrom('session_run')
          .select('stdout_offset')
          .where('id', '=', talker.runId)
          .executeTakeFirst();
        return talker.ended || row?.stdout_offset === talker.said;
      }),
    /** The next start of the node. */
    startAgain: async (): Promise<void> => {
      scene.node = await scene.place.start();
      await scene.node.talking.recover();
      scene.node.talking.watch();
    },
  };
};
