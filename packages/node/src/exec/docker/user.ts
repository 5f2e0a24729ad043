// Who programs are in a container: never root, unless the operator says so in numbers.
import { OrreryError } from '@orrery/protocol/errors';

export type UserIds = { readonly uid: number; readonly gid: number };

/** Who programs are when an image says root, or nothing. */
export const STANDARD_USER = '1000:1000';

/** The user that a container is made with: the option, else the image's own if it is not root. */
export const chooseUser = (option: string | null, ofImage: string | null | undefined): string => {
  if (option !== null) return option;
  const own = (ofImage ?? '').trim();
  return ['', 'root', '0'].includes(own.split(':')[0] ?? '') ? STANDARD_USER : own;
};

const number = (text: string | undefined): number | null => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null);

const rows = (text: string): string[][] => text.split('\n').map((line) => line.split(':'));

/** Whether the image's own files are needed to know the numbers. */
export const needsNames = (user: string): boolean => !/^\d+:\d+$/.test(user);

/** Numbers of `user` (name or number, with or without a group) by the image's passwd and group files. */
export const resolveUser = (user: string, files: { readonly passwd: string; readonly group: string }): UserIds => {
  const [name = '', group] = user.split(':');
  const known = rows(files.passwd).find((row) => row[0] === name || row[2] === name);
  const uid = number(name) ?? number(known?.[2]);
  const gid =
    group === undefined
      ? (number(known?.[3]) ?? 0)
      : (number(group) ?? number(rows(files.group).find((row) => row[0] === group)?.[2]));
  if (uid !== null && gid !== null) return { uid, gid };
  throw new OrreryError('backend_unavailable', `The image runs as ${user}, which its own files do not name.`, {
    rule: 'Programs run as a user whose numbers are known.',
    fix: 'Set execution.options.docker.user, for example 1000:1000.',
  });
};

/** Refuses root that nobody asked for. */
export const refuseRoot = (ids: UserIds, option: string | null): UserIds => {
  if (ids.uid !== 0 || option !== null) return ids;
  throw new OrreryError('backend_unavailable', 'The image runs its programs as root under another name.', {
    rule: 'Programs in a container are not root.',
    fix: 'Set execution.options.docker.user, for example 1000:1000.',
  });
};
