// Which server has the objects of a repository, and what the operator says to it. `.lfsconfig` is text of the repository: it
// may name another place on the host that the repository comes from, and nothing else.
import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import type { Git } from '../run.ts';

/** Where objects come from. `folder`: the user's own clone, whose settings count; null: there is only the remote. */
export type LfsServer = { readonly url: URL; readonly folder: string | null };

const withSlash = (path: string): string => path.replace(/\/+$/, '');

/** The server that belongs to a remote, as Git LFS finds it; null when the remote is no https or ssh address. */
export const serverOfRemote = (remote: string): URL | null => {
  const [, user, sshHost, sshPath] = /^(?:([^/@:]+)@)([^/:]+):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const text = user === undefined ? remote : `ssh://${sshHost}/${sshPath}`;
  const found = URL.canParse(text) ? new URL(text) : null;
  if (found === null || !['https:', 'ssh:'].includes(found.protocol) || found.hostname === '') return null;
  // By ssh the port is one of sshd.
  const host = found.protocol === 'https:' ? found.host : found.hostname;
  const path = withSlash(found.pathname);
  return new URL(`https://${host}${path.endsWith('.git') ? path : `${path}.git`}/info/lfs`);
};

/** An address that a repository or its user names; null when it is not one of https without credentials. */
export const serverNamed = (given: string): URL | null => {
  const found = URL.canParse(given) ? new URL(given) : null;
  if (found === null || found.protocol !== 'https:' || found.username !== '' || found.password !== '') return null;
  return new URL(`https://${found.host}${withSlash(found.pathname)}`);
};

/**
 * Decides the server: what the user's own clone was told (`git config lfs.url`), else `.lfsconfig` where it stays on the host
 * of the remote, else the remote's. Answers what was not followed, in words.
 */
export const findServer = async (
  git: Git,
  { folder, remote, mirror, commit }: { folder: string | null; remote: string; mirror: string; commit: string },
): Promise<{ readonly server: LfsServer | null; readonly notes: readonly string[] }> => {
  const own = folder === null ? null : serverNamed(await userSetting(git, folder, ['--get', 'lfs.url']));
  if (own !== null) return { server: { url: own, folder }, notes: [] };
  const byRemote = serverOfRemote(remote);
  const asked = await committedUrl(git, mirror, commit);
  const named = asked === null ? null : serverNamed(asked);
  if (asked === null) return { server: byRemote === null ? null : { url: byRemote, folder }, notes: [] };
  if (named !== null && byRemote !== null && named.host === byRemote.host) return { server: { url: named, folder }, notes: [] };
  const note = `.lfsconfig names ${hostShown(asked)}, which is not the host that the repository comes from; it is not followed`;
  return { server: byRemote === null ? null : { url: byRemote, folder }, notes: [note] };
};

const hostShown = (given: string): string => (URL.canParse(given) ? new URL(given).host.slice(0, 100) : 'no address');

const committedUrl = async (git: Git, gitDir: string, commit: string): Promise<string | null> => {
  const args = ['config', '--blob', `${commit}:.lfsconfig`, '--no-includes', '--get', 'lfs.url'];
  const { code, stdout } = await git.run({ gitDir, args, okCodes: [0, 1, 128, 255] });
  const text = stdout.toString('utf8').trim();
  return code === 0 && text !== '' ? text : null;
};

const userSetting = async (git: Git, cwd: string, args: readonly string[]): Promise<string> => {
  const { code, stdout } = await git.run({ profile: 'user', cwd, args: ['config', ...args], okCodes: [0, 1] });
  return code === 0 ? stdout.toString('utf8').trim() : '';
};

/** Certificates that the operator's Git trusts for a server beside the usual ones. */
export const certificatesFor = async (git: Git, { url, folder }: LfsServer): Promise<string | undefined> => {
  const path = await userSetting(git, folder ?? '/', ['--path', '--get-urlmatch', 'http.sslCAInfo', url.href]);
  return path === '' ? undefined : readFile(path, 'utf8');
};

/** What the operator's credential helper has for a server, as a header; null: nothing. It is kept nowhere. */
export const credentialsFor = async (git: Git, { url, folder }: LfsServer): Promise<string | null> => {
  const input = `protocol=https\nhost=${url.host}\npath=${url.pathname.slice(1)}\n\n`;
  const call = { profile: 'user', cwd: folder ?? '/', args: ['credential', 'fill'], input, okCodes: [0, 1, 128] } as const;
  const { code, stdout } = await git.run(call);
  const values = new Map(
    stdout
      .toString('utf8')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const [username, password] = [values.get('username'), values.get('password')];
  if (code !== 0 || username === undefined || password === undefined) return null;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
};

/** One sentence of what is wrong, and how to do without. */
export const lfsRefused = (why: string, rule: string, cause?: unknown): OrreryError =>
  new OrreryError('repository_unusable', `Files of Git LFS are not fetched: ${why}.`, {
    rule,
    fix: 'Mend that, or leave pointers in checkouts: lfs: pointers in .orrery/orrery.yaml',
    cause,
  });
