import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';

/** Where distributions put it; PATH is asked after these. */
const USUAL = ['/usr/bin', '/usr/local/bin', '/bin'];

const canExecute = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** What is missing and how to get it, for a machine without bubblewrap. */
export const NO_BUBBLEWRAP = 'bwrap is not installed';

/** How to look for `bwrap`. */
export type BubblewrapSearch = {
  /** The operator's own path, taken as it is; null to look for it. */
  readonly named: string | null;
  readonly path: string;
  readonly isExecutable?: (path: string) => boolean;
};

/** Where `bwrap` is. Throws `backend_unavailable` with how to get it. */
export const findBubblewrap = ({ named, path, isExecutable = canExecute }: BubblewrapSearch): string => {
  const folders = [...USUAL, ...path.split(':').filter((folder) => folder.startsWith('/'))];
  const places = named === null ? folders.map((folder) => join(folder, 'bwrap')) : [named];
  const found = places.find(isExecutable);
  if (found !== undefined) return found;
  throw new OrreryError('backend_unavailable', `${NO_BUBBLEWRAP}${named === null ? '' : ` at ${named}`}.`, {
    rule: 'The backend bubblewrap builds its walls with the program bwrap.',
    fix: 'Install the package bubblewrap (Debian, Ubuntu: apt-get install bubblewrap · Fedora: dnf install bubblewrap), or take one that needs none: orrery run --backend sandbox',
    details: { places: [...new Set(places)] },
  });
};
