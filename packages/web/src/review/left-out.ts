// What of a change stays behind when it is applied: whole files, or changes of a file by their keys.

import type { LeftOut } from '@orrery/protocol';

/** What becomes of what is chosen, in words. */
export type ChoosingWords = {
  readonly out: string;
  readonly in: string;
  readonly fileOut: string;
  readonly fileIn: string;
  readonly is: string;
  readonly key: string;
};

/** Of a result: it stays behind when the rest is applied. */
export const leavingOut: ChoosingWords = {
  out: 'Leave it out',
  in: 'Take it in',
  fileOut: 'Leave the file out',
  fileIn: 'Take the file in',
  is: 'left out',
  key: 'leave the change out, or take it in',
};

/** In the files of a session: they become what they were. */
export const takingBack: ChoosingWords = {
  out: 'Take it back',
  in: 'Keep it',
  fileOut: 'Take the file back',
  fileIn: 'Keep the file',
  is: 'to be taken back',
  key: 'take the change back, or keep it',
};

/** How what is left out is asked for and changed; null where nothing of it can be. */
export type Choosing = {
  readonly leftOut: LeftOut;
  readonly toggle: (path: string, key?: string) => void;
  readonly words: ChoosingWords;
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
