// A person at a terminal: a pane of tmux in which a command line runs.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';
import { ROOT, type Place } from './place.ts';
import { waitFor } from './wait.ts';

/** Whether tmux is there; when not, it is said aloud, since nothing then shows what a person would see. */
export const hasTmux = ((): boolean => {
  try {
    execFileSync('sh', ['-c', 'command -v tmux'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('SKIPPED: tmux is not installed; nothing here says what a person sees.\n');
    return false;
  }
})();

/** How long something may take to be seen: a loaded machine starts a node and an agent program meanwhile. */
const SEEN_MS = 150_000;

/** The folder of a command, and the size of its terminal. */
type Where = { readonly cwd?: string; readonly columns?: number; readonly rows?: number };

/** The panes of one suite. */
export type Panes = {
  /** Runs `orrery WORDS` in a new pane; its exit code is shown at the end as `left with N`. */
  start(pane: string, words: string, where?: Where): void;
  screen(pane: string): string;
  /** The screen and everything that was scrolled out of it. */
  all(pane: string): string;
  resize(pane: string, columns: number, rows: number): void;
  /** The screen, once it shows that. */
  seen(pane: string, what: RegExp): Promise<string>;
  type(pane: string, text: string): void;
  press(pane: string, key: string): void;
};

/** Panes on the node of a place; they end with the suite. */
export const panesOfSuite = (place: Place): Panes => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-tmux-'));
  const run = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...place.env, TERM: 'xterm-256color' },
    });
  const screen = (pane: string): string => run('capture-pane', '-p', '-t', pane);
  afterAll(() => {
    try {
      run('kill-server');
    } catch {
      // It may have ended with its last pane.
    }
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    screen,
    all: (pane) => run('capture-pane', '-p', '-J', '-S', '-', '-t', pane),
    resize: (pane, columns, rows) => void run('resize-window', '-t', pane, '-x', String(columns), '-y', String(rows)),
    start: (pane, words, { cwd = place.folder, columns = 100, rows = 30 } = {}) => {
      const command = `'${process.execPath}' '${join(ROOT, 'packages/cli/src/main.ts')}' ${words}`;
      run(
        'new-session',
        '-d',
        '-s',
        pane,
        '-c',
        cwd,
        '-x',
        String(columns),
        '-y',
        String(rows),
        `${command}; echo "left with $?"; sleep 600`,
      );
    },
    seen: (pane, what) =>
      waitFor(`${what} on the screen of ${pane}`, () => (what.test(screen(pane)) ? screen(pane) : null), SEEN_MS).catch(
        (thrown: unknown) => {
          throw new Error(`${String((thrown as Error).message)}:\n${screen(pane)}`);
        },
      ),
    type: (pane, text) => void run('send-keys', '-t', pane, '-l', text),
    press: (pane, key) => void run('send-keys', '-t', pane, key),
  };
};
