// What of a change stays behind when it is applied: whole files, or changes of a file by their keys.

import type { LeftOut } from '@orrery/protocol';

/** How what is left out is asked for and changed; null where nothing can be applied. */
export type Choosing = {
  readonly leftOut: LeftOut;
  readonly toggle: (path: string, key?: string) => void;
} | null;

/** Whether a file is left out as a whole, or one change of it, alone or with its file. */
export const isLeftOut = (leftOut: LeftOut, path: string, key?: string): boolean => {
  const found = leftOut.find((one) => one.path === path);
  if (found === undefined) return false;
  return found.hunks === undefined || (key !== undefined && found.hunks.includes(key));
};

/** With a file or one change of it left out, or taken back. A change of a file that is left out takes the file back. */
export const toggled = (leftOut: LeftOut, path: string, key?: string): LeftOut => {
  const others = leftOut.filter((one) => one.path !== path);
  if (isLeftOut(leftOut, path)) return others;
  if (key === undefined) return [...others, { path }];
  const hunks = leftOut.find((one) => one.path === path)?.hunks ?? [];
  const next = hunks.includes(key) ? hunks.filter((one) => one !== key) : [...hunks, key];
  return next.length === 0 ? others : [...others, { path, hunks: next }];
};

/** In words what is left out; null: nothing. */
export const leftOutWords = (leftOut: LeftOut): string | null => {
  const files = leftOut.filter(({ hunks }) => hunks === undefined).length;
  const hunks = leftOut.reduce((sum, one) => sum + (one.hunks?.length ?? 0), 0);
  const words = (count: number, one: string): string[] => (count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`]);
  const all = [...words(files, 'file'), ...words(hunks, 'change')];
  return all.length === 0 ? null : all.join(' and ');
};
