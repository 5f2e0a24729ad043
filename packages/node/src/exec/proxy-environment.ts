/** Who the egress proxy is talked to as. */
const PROXY_USER = 'egress';
/** Loopback inside the environment is never behind the proxy: test suites talk to their own servers. */
const NO_PROXY = '127.0.0.1,localhost,::1';

/**
 * Variables that send a program's web traffic through the broker's egress proxy: in upper and lower case, since programs
 * read either, and the switch that makes Node obey them. `endpoint` is the broker's address as seen from inside. The
 * values hold the token: name them in `secretNames`.
 */
export const proxyEnvironment = (endpoint: string, token: string): Record<string, string> => {
  const url = new URL(endpoint);
  url.username = PROXY_USER;
  url.password = token;
  const proxy = url.href.replace(/\/$/, '');
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  const pairs = names.flatMap((name) => [
    [name, proxy],
    [name.toLowerCase(), proxy],
  ]);
  return { ...Object.fromEntries(pairs), NO_PROXY, no_proxy: NO_PROXY, NODE_USE_ENV_PROXY: '1' };
};
