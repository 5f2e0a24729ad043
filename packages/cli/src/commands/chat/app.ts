// The one file that knows ink: it draws what `view` says and hands on keys.

import { Box, render, Static, Text, useCursor, useInput, usePaste, type Instance } from 'ink';
import { createElement, useLayoutEffect, useSyncExternalStore, type ReactNode } from 'react';
import { keysOf, pasted, type KeyPress } from './keys.ts';
import type { View } from './view.ts';

/** What is drawn: the frame, and a batch of lines that goes above it into the scrollback. */
export type Frame = { readonly view: View; readonly batch: { readonly number: number; readonly lines: readonly string[] } };

export type Drawn = {
  readonly current: () => Frame;
  readonly subscribe: (listener: () => void) => () => void;
  /** The batch of that number is in the scrollback. */
  readonly onPrinted: (number: number) => void;
  readonly onKeys: (keys: readonly KeyPress[]) => void;
};

const line = (text: string, place: number): ReactNode =>
  createElement(Text, { key: `line ${place}`, wrap: 'truncate' }, text === '' ? ' ' : text);

const Chat = ({ current, subscribe, onKeys, onPrinted }: Drawn): ReactNode => {
  const { view, batch } = useSyncExternalStore(subscribe, current);
  const { setCursorPosition } = useCursor();
  useInput((input, key) => onKeys(keysOf(input, key)));
  usePaste((text) => onKeys([pasted(text)]));
  useLayoutEffect(() => onPrinted(batch.number), [batch.number, onPrinted]);
  setCursorPosition(view.cursor);
  return createElement(
    Box,
    { flexDirection: 'column' },
    // A batch has its own list: what was printed is not kept.
    createElement(Static<string>, { key: `batch ${batch.number}`, items: [...batch.lines], children: line }),
    ...view.lines.map(line),
  );
};

/** Draws until it is unmounted. */
export const draw = (drawn: Drawn): Instance =>
  render(createElement(Chat, drawn), { exitOnCtrlC: false, patchConsole: false, interactive: true, maxFps: 30 });
