// Addresses of remotes are text of a repository: they are read here and go nowhere else.

/** What an address of a remote says. */
export type Remote = {
  /** Lower case; with the port where the address is one of http(s). */
  readonly host: string;
  /** `owner/name`, without `.git`. */
  readonly repository: string;
};

/** Owner and name as code hosts have them: no dots alone, nothing that means something in a path or an address. */
const part = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;
const hostName = /^[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?$/;

/**
 * Reads `https://host[:port]/owner/name[.git]`, `ssh://[user@]host[:port]/owner/name[.git]` and `[user@]host:owner/name[.git]`;
 * null for everything else. What an address carries of credentials is not read. The port of ssh is one of sshd, and left out.
 */
export const parseRemote = (address: string): Remote | null => {
  if (address.length > 2_048 || !/^[\x21-\x7e]+$/.test(address)) return null;
  const scp = /^(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!\/\/)\/?(.+)$/.exec(address);
  if (scp !== null && !/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return remoteOf(scp[1] ?? '', scp[2] ?? '');
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !['https:', 'http:', 'ssh:'].includes(url.protocol) || url.search !== '' || url.hash !== '') return null;
  return remoteOf(url.protocol === 'ssh:' ? url.hostname : url.host, url.pathname.slice(1));
};

const remoteOf = (host: string, path: string): Remote | null => {
  const [owner = '', name = '', ...rest] = path
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/');
  const known = host.toLowerCase();
  if (rest.length > 0 || !part.test(owner) || !part.test(name) || name.endsWith('.git')) return null;
  return hostName.test(known.replace(/:\d{1,5}$/, '')) ? { host: known, repository: `${owner}/${name}` } : null;
};
