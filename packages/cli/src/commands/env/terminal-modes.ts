import type { Sequence } from '../../terminal-filter.ts';

/** Private modes that a program switches on for itself: keys, mouse, reports, paste; the other screen comes last. */
const ON: readonly number[] = [1, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031, 2048, 47, 1047, 1049];
/** Those that it switches off. */
const OFF: readonly number[] = [7, 25];

/**
 * Remembers what a program's output made of the terminal, so that who leaves it gets the terminal back as it was. `see` is
 * told each sequence, `undo` answers what takes everything back.
 */
export const watchModes = (): { see(sequence: Sequence): void; undo(): string } => {
  const changed = new Set<number>();
  let keyboards = 0;
  let otherKeys = false;
  let region = false;
  const set = (mode: number, on: boolean): void => {
    if (OFF.includes(mode) ? !on : on && ON.includes(mode)) changed.add(mode);
    else changed.delete(mode);
  };
  return {
    see({ kind, text }) {
      if (kind !== 'csi') return;
      const mode = /^\?([\d;]+)([hl])$/.exec(text);
      if (mode !== null) for (const one of (mode[1] ?? '').split(';')) set(Number(one), mode[2] === 'h');
      else if (/^>\d*u$/.test(text)) keyboards += 1;
      else if (/^<\d*u$/.test(text)) keyboards = Math.max(0, keyboards - (Number(text.slice(1, -1)) || 1));
      else if (/^>4(;\d*)?m$/.test(text)) otherKeys = !/^>4(;0?)?m$/.test(text);
      else if (/^[\d;]*r$/.test(text)) region = /\d/.test(text);
    },
    undo() {
      const modes = [...OFF, ...ON].filter((mode) => changed.has(mode));
      const back = [
        ...(keyboards > 0 ? [`\u001b[<${keyboards}u`] : []),
        ...(otherKeys ? ['\u001b[>4;0m'] : []),
        ...(region ? ['\u001b7\u001b[r\u001b8'] : []),
        ...modes.map((mode) => `\u001b[?${mode}${OFF.includes(mode) ? 'h' : 'l'}`),
      ];
      changed.clear();
      [keyboards, otherKeys, region] = [0, false, false];
      return back.length === 0 ? '' : `${back.join('')}\u001b[0m`;
    },
  };
};
