// What a program with a full screen tells of itself. Two dialects: the program status protocol (OSC 7501), which Codex and
// Pi speak, and for programs that tell nothing else the notifications of terminals (bell, OSC 9, OSC 777).

import type { TerminalWord } from './osc.ts';

/** `idle`: it has nothing to do, because it was given nothing yet or was stopped. `rang`: a notification, which tells nothing but that somebody should look. */
export type ScreenStatus = 'working' | 'blocked' | 'done' | 'failed' | 'idle' | 'rang';

const states: Readonly<Record<string, ScreenStatus>> = {
  working: 'working',
  blocked: 'blocked',
  done: 'done',
  error: 'failed',
  idle: 'idle',
};

/** Reads the program status protocol: `7501;state=done:app=codex`. */
export const readProgramStatus = (word: TerminalWord): ScreenStatus | null => {
  const state = word.kind === 'osc' ? /^7501;(?:[^;]*:)?state=([a-z]+)(?:[:;]|$)/.exec(word.text)?.[1] : undefined;
  return state === undefined ? null : (states[state] ?? null);
};

/** Reads a notification. Progress (`9;4`) is none. */
export const readNotification = (word: TerminalWord): ScreenStatus | null =>
  word.kind === 'bell' || /^(9;(?!\d+(;|$))|777;notify;)/.test(word.text) ? 'rang' : null;

/** What a task waits for, in words; null: it does not wait. Worded so that a wait for a person is told from others. */
export const waitingFor = (status: ScreenStatus): string | null => {
  switch (status) {
    case 'working':
      return null;
    case 'blocked':
      return 'a person: the agent asks something';
    case 'done':
      return 'a person: the agent has finished its turn';
    case 'failed':
      return 'a person: the turn of the agent failed';
    case 'idle':
      return 'a person: the agent has nothing to do';
    case 'rang':
      return 'a person: the program asks to be looked at';
  }
};
