// The full screens of agent programs: conducted by the runs that they belong to, looked at like every terminal.

import { join } from 'node:path';
import type { TerminalView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Handle } from '../exec/backend.ts';
import { screenFile } from './screen-file.ts';
import { createScreensThread, type ScreensThread } from './screens-thread.ts';
import type { TerminalSize } from './terminal-size.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { generationOf, terminalView } from './terminal-view.ts';

/** A screen of a run that is there now. */
export type ScreenAsked = {
  /** The run's. */
  readonly id: string;
  /** Under which it is looked for: the attempt's environment, and the one that it works in. */
  readonly environmentIds: readonly string[];
  readonly directory: string;
  readonly command: readonly string[];
  readonly startedAtMs: number;
  readonly size: TerminalSize;
  readonly handle: Handle;
  /** Output from there on the run itself still reads. */
  readonly needed: () => number;
  /** Whoever writes wrote something. */
  readonly onInput: () => void;
};

/** A screen that people can look at until it is closed. */
export type OpenScreen = {
  /** Resolves when everybody who looks was shown all of it, and the end. */
  shown(): Promise<void>;
  close(): void;
};

export type Screens = {
  readonly thread: ScreensThread;
  open(asked: ScreenAsked): Promise<OpenScreen>;
  find(id: string): Terminal | null;
  /** @throws OrreryError not_found */
  view(id: string): TerminalView;
  list(environmentId: string): readonly TerminalView[];
};

/** Where a terminal's screen is remembered, below its environment's directory. */
export const screenFileOf = (directory: string, id: string): string => join(directory, 'private', 'screens', `${id}.json`);

/** Makes it. */
export const createScreens = (): Screens => {
  const thread = createScreensThread();
  const live = new Map<string, { readonly asked: ScreenAsked; readonly terminal: Terminal }>();
  const view = (id: string): TerminalView => {
    const known = live.get(id);
    if (known === undefined) throw new OrreryError('not_found', `There is no screen ${id.slice(0, 200)}.`);
    const { asked, terminal } = known;
    const { command, startedAtMs, environmentIds } = asked;
    const end = terminal.ended();
    const { viewers } = terminal;
    return terminalView({
      id,
      environmentId: environmentIds[0] ?? '',
      command,
      tty: true,
      end,
      lost: false,
      viewers,
      startedAtMs,
    });
  };
  return {
    thread,
    async open(asked) {
      const { id, handle, size, needed, onInput } = asked;
      const generation = generationOf(asked.startedAtMs);
      const file = screenFile(screenFileOf(asked.directory, id));
      const given = { id, handle, size, needed, onInput, generation, file, tty: true, screens: thread, onEnd: () => undefined };
      const terminal = await openTerminal(given);
      live.set(id, { asked, terminal });
      return {
        shown: terminal.shown,
        close: () => {
          live.delete(id);
          terminal.close();
        },
      };
    },
    find: (id) => live.get(id)?.terminal ?? null,
    view,
    list: (environmentId) =>
      [...live].filter(([, { asked }]) => asked.environmentIds.includes(environmentId)).map(([id]) => view(id)),
  };
};
