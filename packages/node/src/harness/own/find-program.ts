import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { InstalledProgram } from '../harness.ts';

/** Where a command is, by its path or by the folders of `path`; null: nowhere, or it cannot be run. Links are followed to the program itself. */
export const findOwnProgram = (
  command: string,
  { path, node }: { readonly path: string | undefined; readonly node: string },
): InstalledProgram | null => {
  const folders = (path ?? '').split(delimiter).filter(isAbsolute);
  const places = command.includes('/') ? (isAbsolute(command) ? [command] : []) : folders.map((folder) => join(folder, command));
  for (const place of places) {
    const executable = runnable(place);
    if (executable !== null) return { directory: dirname(executable), executable, version: 'your own', node };
  }
  return null;
};

const runnable = (place: string): string | null => {
  try {
    const executable = realpathSync(place);
    accessSync(executable, constants.X_OK);
    return statSync(executable).isFile() ? executable : null;
  } catch {
    return null;
  }
};
