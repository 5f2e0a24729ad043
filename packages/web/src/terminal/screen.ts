// A terminal of xterm.js that draws what a session is told and hands on what is typed. Programs reach nothing through it:
// no window, a link is only named, and what is asked of the clipboard is handed on to a person.

import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Xterm, type ITheme } from '@xterm/xterm';
import type { Screen } from './session.ts';
import { adoptStyles, withoutStyleElements } from './styles.ts';

/** Lines above the screen that can be scrolled to: more would make the page grow. */
const SCROLLBACK_LINES = 5_000;
/** How long after a key what is sent counts as typed, ms: a composed sign comes a moment later. */
const TYPED_MS = 100;

export type ScreenGiven = {
  readonly onTyped: (bytes: Uint8Array, person: boolean) => void;
  readonly onTitle: (title: string) => void;
  readonly onLink: (address: string) => void;
  /** A program asks something of the clipboard (the payload of OSC 52), now and not in what is drawn again. */
  readonly onClipboard: (payload: string) => void;
  /** Ctrl-]: the person wants to leave the terminal. */
  readonly onLeave: () => void;
};

export type DrawnScreen = Screen & {
  /** The size that fits its place, or null where it has none. */
  fitting(): { readonly columns: number; readonly rows: number } | null;
  focus(): void;
  lines(wrapped: boolean): void;
  recolour(): void;
  close(): void;
};

const asked: readonly { readonly prefix?: string; readonly intermediates?: string; readonly final: string }[] = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { prefix: '>', final: 'q' },
  { prefix: '?', final: 'u' },
  { final: 't' },
];

/** Draws into `place`. */
export const createScreen = (place: HTMLElement, given: ScreenGiven): DrawnScreen => {
  const terminal = new Xterm({
    scrollback: SCROLLBACK_LINES,
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: 13,
    minimumContrastRatio: 4.5,
    screenReaderMode: false,
    theme: themeOf(place),
    linkHandler: { activate: (_event, address) => given.onLink(address) },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withoutStyleElements(() => terminal.open(place));
  const leaveStyles = adoptStyles(place);
  const replays: boolean[] = [];
  const isReplay = (): boolean => replays[0] === true;
  // What is drawn again asks nothing: nobody waits for the answer any more.
  for (const one of asked) terminal.parser.registerCsiHandler(one, isReplay);
  for (const code of [4, 10, 11, 12])
    terminal.parser.registerOscHandler(code, (text) => isReplay() && text.split(';').includes('?'));
  terminal.parser.registerOscHandler(52, (payload) => {
    if (!isReplay()) given.onClipboard(payload);
    return true;
  });
  terminal.parser.registerDcsHandler({ intermediates: '$', final: 'q' }, isReplay);
  terminal.onTitleChange(given.onTitle);
  hearPerson(terminal, given);
  return {
    write(bytes, replay, done) {
      replays.push(replay);
      terminal.write(bytes, () => {
        replays.shift();
        done();
      });
    },
    resize: ({ columns, rows }) => terminal.write('', () => terminal.resize(columns, rows)),
    clear: () => terminal.write('', () => terminal.reset()),
    fitting() {
      const proposed = place.clientWidth === 0 ? undefined : fit.proposeDimensions();
      return proposed === undefined || !Number.isFinite(proposed.cols) ? null : { columns: proposed.cols, rows: proposed.rows };
    },
    focus: () => terminal.focus(),
    lines: (wrapped) => {
      terminal.options.convertEol = wrapped;
    },
    recolour: () => {
      terminal.options.theme = themeOf(place);
    },
    close() {
      leaveStyles();
      terminal.dispose();
    },
  };
};

/** Tells what a person types from what the terminal answers by itself. */
const hearPerson = (terminal: Xterm, given: ScreenGiven): void => {
  const bytesOf = new TextEncoder();
  let typedAt = Number.NEGATIVE_INFINITY;
  const onPerson = (): void => {
    typedAt = performance.now();
  };
  for (const kind of ['keydown', 'paste', 'input', 'compositionend']) terminal.element?.addEventListener(kind, onPerson, true);
  const isPerson = (): boolean => performance.now() - typedAt < TYPED_MS;
  terminal.onData((text) => given.onTyped(bytesOf.encode(text), isPerson()));
  terminal.onBinary((text) =>
    given.onTyped(
      Uint8Array.from(text, (sign) => sign.charCodeAt(0)),
      isPerson(),
    ),
  );
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type !== 'keydown') return true;
    if (event.ctrlKey && event.key === ']') {
      event.preventDefault();
      given.onLeave();
      return false;
    }
    // What is selected is copied; without a selection the program has the key.
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === 'c' && terminal.hasSelection()) {
      event.preventDefault();
      void navigator.clipboard.writeText(terminal.getSelection());
      return false;
    }
    // Cmd-K belongs to the page; Ctrl-K to the program.
    return !event.metaKey;
  });
};

const themeOf = (place: HTMLElement): ITheme => {
  const style = getComputedStyle(place);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return {
    background: of('--ground'),
    foreground: of('--ink'),
    cursor: of('--accent'),
    cursorAccent: of('--ground'),
    selectionBackground: isDark ? '#3b3d63' : '#c7d2fe',
    ...(isDark ? darkColours : lightColours),
  };
};

const darkColours: ITheme = {
  black: '#3a3c4a',
  red: '#ff8a80',
  green: '#6fd394',
  yellow: '#f0b75a',
  blue: '#8ab4f8',
  magenta: '#d3a5f5',
  cyan: '#6fd3d3',
  white: '#d5d7e0',
  brightBlack: '#7f8294',
};

const lightColours: ITheme = {
  black: '#17181f',
  red: '#b3261e',
  green: '#15703a',
  yellow: '#8a5300',
  blue: '#1d4ed8',
  magenta: '#8e24aa',
  cyan: '#0e7490',
  white: '#5b5e6e',
  brightBlack: '#5b5e6e',
  brightRed: '#c5352c',
  brightGreen: '#1b8a49',
  brightYellow: '#9a6200',
  brightBlue: '#2563eb',
  brightMagenta: '#9c35b8',
  brightCyan: '#0891b2',
  brightWhite: '#3a3c4a',
};
