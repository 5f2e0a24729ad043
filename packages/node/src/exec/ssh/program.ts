import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';

const canExecute = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** How to look for the OpenSSH client. */
export type ClientSearch = {
  /** The operator's own path, taken as it is; null to look for it in `path`. */
  readonly named: string | null;
  readonly path: string;
  readonly isExecutable?: (path: string) => boolean;
};

/** Where `ssh` is: the one a person gets who types it. Throws `backend_unavailable` with how to get it. */
export const findClient = ({ named, path, isExecutable = canExecute }: ClientSearch): string => {
  const folders = [...path.split(':').filter((folder) => folder.startsWith('/')), '/usr/bin', '/usr/local/bin'];
  const places = named === null ? folders.map((folder) => join(folder, 'ssh')) : [named];
  const found = places.find(isExecutable);
  if (found !== undefined) return found;
  throw new OrreryError('backend_unavailable', `There is no OpenSSH client${named === null ? '' : ` at ${named}`}.`, {
    rule: 'Hosts are reached by your own ssh, with your configuration, agent and jump hosts.',
    fix: 'Install it (Debian, Ubuntu: apt-get install openssh-client · Fedora: dnf install openssh-clients).',
    details: { places: [...new Set(places)] },
  });
};
