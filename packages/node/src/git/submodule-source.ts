// Where a submodule may be fetched from. `.gitmodules` is text of the repository: it must not make the node read what the
// repository's own remote does not already give, neither with the user's credentials nor from the user's disk.
import { realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { toOrreryError } from '@orrery/protocol/errors';
import { userCall } from './change/model.ts';
import type { Git, GitCall } from './run.ts';
import { readUrl } from './source.ts';
import { submoduleRefused, type Submodule } from './submodules.ts';

/** What fetches a submodule: the location, and the settings of the command. */
export type SubmoduleSource = { readonly location: string; readonly call: Pick<GitCall, 'profile' | 'protocols' | 'settings'> };

/** The repository that has it. `folder`: the user's own, where there is one; `remote`: where it comes from itself. */
export type Above = { readonly folder: string | null; readonly remote: string };

const hostOf = (location: string): string | null =>
  /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]+(?::\d+)?)(?:\/|$)/i.exec(location)?.[1]?.toLowerCase() ??
  /^[^/@]+@([^/:]+):/.exec(location)?.[1]?.toLowerCase() ??
  null;

/** A location that begins with `./` or `../`, as Git reads it: beside the remote of the repository above. */
export const besideRemote = (remote: string, relative: string): string => {
  const base = remote.replace(/^(https?:\/\/)[^/@]*@/i, '$1').replace(/\/+$/, '');
  const prefix = /^[a-z+]+:\/\/[^/]*/i.exec(base)?.[0] ?? /^[^/@]+@[^/:]+:/.exec(base)?.[0] ?? '';
  const path = base.slice(prefix.length);
  const joined = posix.join(path === '' ? '/' : path, relative);
  return joined.startsWith('..') ? relative : `${prefix}${joined}`;
};

/**
 * Decides where a submodule is fetched from. With the user's credentials only from the host that the repository itself comes
 * from; from another host without any, over https; from this machine only what the user's own clone was set up with.
 * Rejects with `repository_unusable`.
 */
export const submoduleSource = async (git: Git, above: Above, module: Submodule): Promise<SubmoduleSource> => {
  const refuse = (why: string, rule: string) => submoduleRefused(module.path, why, rule);
  const relative = /^\.\.?\//.test(module.url);
  const location = relative ? besideRemote(above.remote, module.url) : module.url;
  if (/^\.\.?\//.test(location))
    throw refuse('its URL leads above the remote', 'A relative URL begins at the remote of the repository.');
  if (location.startsWith('/')) {
    const known = await knownToUser(git, above.folder, module);
    if (known === null || known !== (await realpath(location).catch(() => null)))
      throw refuse(
        'it is a repository on this machine that your clone was not set up with',
        'Of this machine only what you have yourself: git submodule update --init',
      );
    return { location: known, call: { profile: 'user', protocols: ['file'] } };
  }
  let url: ReturnType<typeof readUrl>;
  try {
    url = readUrl(location);
  } catch (thrown) {
    throw refuse(`its URL is not taken (${toOrreryError(thrown).message})`, 'https and ssh only, without credentials.');
  }
  if (url === null || url.protocol === 'file')
    throw refuse('its URL is no https or ssh URL', 'https and ssh, or a path beside the remote of the repository.');
  if (hostOf(location) !== null && hostOf(location) === hostOf(above.remote))
    return { location, call: { profile: 'user', protocols: [url.protocol] } };
  if (url.protocol === 'ssh')
    throw refuse(
      'it is on another host, by ssh',
      'Your keys and credentials go only to the host of the repository itself; others by https.',
    );
  return { location, call: { profile: 'node', protocols: ['https'], settings: ['credential.helper='] } };
};

/** Where the user's clone has a submodule from, when that is on this machine. */
const knownToUser = async (git: Git, folder: string | null, { name }: Submodule): Promise<string | null> => {
  if (folder === null) return null;
  const args = ['config', '--local', '--get', `submodule.${name}.url`];
  const { code, stdout } = await git.run({ ...userCall(folder), args, okCodes: [0, 1, 128] });
  const url = stdout.toString('utf8').trim();
  return code === 0 && url.startsWith('/') ? realpath(url).catch(() => null) : null;
};
