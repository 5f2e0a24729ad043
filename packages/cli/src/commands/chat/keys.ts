// What a terminal sends, as what a person did. Pure.

import type { Edit } from './composer.ts';

export type KeyPress =
  | { readonly kind: 'text'; readonly text: string; readonly alone: boolean }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'edit'; readonly edit: Edit }
  | {
      readonly kind:
        | 'enter'
        | 'newline'
        | 'escape'
        | 'leave'
        | 'end'
        | 'tab'
        | 'backtab'
        | 'steer'
        | 'details'
        | 'older'
        | 'redraw'
        | 'queue';
    };

/** The parts of ink's key that are looked at. */
export type InkKey = Partial<
  Record<
    | 'upArrow'
    | 'downArrow'
    | 'leftArrow'
    | 'rightArrow'
    | 'pageUp'
    | 'home'
    | 'end'
    | 'return'
    | 'escape'
    | 'ctrl'
    | 'shift'
    | 'tab'
    | 'backspace'
    | 'delete'
    | 'meta',
    boolean
  >
>;

const edit = (name: Edit): KeyPress => ({ kind: 'edit', edit: name });

const CTRL: Readonly<Record<string, KeyPress>> = {
  a: edit('lineStart'),
  b: edit('left'),
  c: { kind: 'leave' },
  d: { kind: 'end' },
  e: edit('lineEnd'),
  f: edit('right'),
  h: edit('backspace'),
  j: { kind: 'newline' },
  k: edit('killToEnd'),
  l: { kind: 'redraw' },
  n: edit('down'),
  o: { kind: 'details' },
  p: edit('up'),
  q: { kind: 'queue' },
  s: { kind: 'steer' },
  u: edit('killToStart'),
  w: edit('killSpaceWord'),
  y: edit('yank'),
};

const ALT: Readonly<Record<string, KeyPress>> = {
  b: edit('wordLeft'),
  f: edit('wordRight'),
  d: edit('killWordAfter'),
};

const named = (key: InkKey): KeyPress | null => {
  const byWord = key.ctrl === true || key.meta === true;
  if (key.return === true) return { kind: key.meta === true || key.shift === true ? 'newline' : 'enter' };
  if (key.escape === true) return { kind: 'escape' };
  if (key.tab === true) return { kind: key.shift === true ? 'backtab' : 'tab' };
  if (key.backspace === true) return edit(byWord ? 'killWord' : 'backspace');
  if (key.delete === true) return edit(byWord ? 'killWordAfter' : 'delete');
  if (key.upArrow === true) return edit('up');
  if (key.downArrow === true) return edit('down');
  if (key.leftArrow === true) return edit(byWord ? 'wordLeft' : 'left');
  if (key.rightArrow === true) return edit(byWord ? 'wordRight' : 'right');
  if (key.home === true) return edit('lineStart');
  if (key.end === true) return edit('lineEnd');
  return key.pageUp === true ? { kind: 'older' } : null;
};

const CONTROL = new RegExp('([\\u0000-\\u001f])');

/** Text that came in one piece: keys that were typed fast, or a paste of a terminal that marks none. */
const piece = (text: string): KeyPress[] => {
  const inner = text.replace(/[\r\n]$/, '');
  // Lines that came at once were not typed: nothing of them is sent.
  if (/[\r\n]/.test(inner)) return [pasted(text)];
  return text
    .split(CONTROL)
    .filter((part) => part !== '')
    .flatMap((part): KeyPress[] => {
      const code = part.charCodeAt(0);
      if (code >= 0x20) return [{ kind: 'text', text: part, alone: false }];
      if (part === '\r') return [{ kind: 'enter' }];
      if (part === '\t') return [{ kind: 'tab' }];
      const key = CTRL[String.fromCharCode(code + 0x60)];
      return key === undefined ? [] : [key];
    });
};

/** What ink's `useInput` reports, as keys. */
export const keysOf = (input: string, key: InkKey): KeyPress[] => {
  const known = named(key);
  if (known !== null) return [known];
  if (key.ctrl === true) {
    const found = CTRL[input];
    return found === undefined ? [] : [found];
  }
  if (key.meta === true) {
    const found = ALT[input];
    return found === undefined ? [] : [found];
  }
  if (input === '\n') return [{ kind: 'newline' }];
  if (input === '') return [];
  return [...input].length === 1 && input >= ' ' ? [{ kind: 'text', text: input, alone: true }] : piece(input);
};

/** What was pasted, as text: line ends of every kind, and nothing else that a terminal obeys. */
export const pasted = (text: string): KeyPress => ({ kind: 'paste', text: text.replace(/\r\n?/g, '\n') });
