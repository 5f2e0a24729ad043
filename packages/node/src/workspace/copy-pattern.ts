import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lookAt } from '../files/tree-walk.ts';

/** Whether a pattern has wildcards. */
export const isGlob = (pattern: string): boolean => /[*?]/.test(pattern);

/**
 * Paths below `root` that a pattern names: `*` is any part of one name, `?` one character of it. As in a shell, a name that
 * begins with a dot is met only by a pattern that does. Links are named and not followed.
 */
export const matchPattern = (root: string, pattern: string): string[] => {
  let found = [''];
  for (const part of pattern.split('/')) {
    const below = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);
    found = isGlob(part)
      ? found.flatMap((folder) =>
          namesIn(join(root, folder))
            .filter(fits(part))
            .map((name) => below(folder, name)),
        )
      : found.map((folder) => below(folder, part)).filter((path) => lookAt(join(root, path)) !== null);
  }
  return found;
};

const namesIn = (folder: string): string[] => (lookAt(folder)?.isDirectory() === true ? readdirSync(folder).sort() : []);

const fits = (part: string): ((name: string) => boolean) => {
  const source = part
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const whole = new RegExp(`^${source}$`, 's');
  return (name) => whole.test(name) && (part.startsWith('.') || !name.startsWith('.'));
};
