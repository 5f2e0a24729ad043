import type { Command } from './registry.ts';

/** How long the first of two keys waits for the second, ms. */
const SECOND_MS = 1_500;

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** What is done after a key: a command, nothing yet because more keys may come, or nothing. */
export type Step = { readonly kind: 'run'; readonly command: Command } | { readonly kind: 'wait' } | { readonly kind: 'none' };

/** Follows keys, at times that it is told. */
export const createKeys = (): ((pressed: Pressed, commands: readonly Command[], nowMs: number) => Step) => {
  let before = '';
  let beforeMs = 0;
  return (pressed, commands, nowMs) => {
    const key = nameOf(pressed);
    if (key === null) return { kind: 'none' };
    const first = before !== '' && nowMs - beforeMs <= SECOND_MS ? before : '';
    before = '';
    // A second key that fits nothing is a first one.
    for (const keys of first === '' ? [key] : [`${first} ${key}`, key]) {
      const command = commands.find((one) => one.keys === keys);
      if (command !== undefined) return { kind: 'run', command };
      if (commands.some((one) => one.keys?.startsWith(`${keys} `) === true)) {
        [before, beforeMs] = [keys, nowMs];
        return { kind: 'wait' };
      }
    }
    return { kind: 'none' };
  };
};

const nameOf = ({ key, ctrlKey, metaKey, altKey }: Pressed): string | null => {
  if (altKey || ['Shift', 'Control', 'Meta', 'Alt'].includes(key)) return null;
  return ctrlKey || metaKey ? `Mod+${key.toLowerCase()}` : key;
};

/** Where a key that somebody presses belongs to what they write in, and not to the page. */
export const belongsElsewhere = (event: KeyboardEvent): boolean => {
  const { target } = event;
  if (event.defaultPrevented || event.isComposing || !(target instanceof HTMLElement)) return event.defaultPrevented;
  // A program in a terminal has every key but those of the Cmd key.
  if (target.closest('.xterm') !== null) return !event.metaKey;
  if (document.querySelector('dialog[open]') !== null) return true;
  const writes = target.closest('input:not([type=radio],[type=checkbox]), textarea, select, [contenteditable=true]') !== null;
  return writes && !event.ctrlKey && !event.metaKey;
};
