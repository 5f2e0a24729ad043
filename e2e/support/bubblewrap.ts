import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** Whether the machine has bwrap; without it that is said, since tests that are left out prove nothing. */
export const hasBubblewrap = (): boolean => {
  const there = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap')));
  if (!there)
    process.stderr.write('SKIPPED: bwrap is not installed (apt-get install bubblewrap); nothing here says that it works.\n');
  return there;
};
