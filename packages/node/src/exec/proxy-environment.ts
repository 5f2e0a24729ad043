/** Who the egress proxy is talked to as. */
const PROXY_USER = 'egress';
/** Loopback inside the environment is never behind the proxy: test suites talk to their own servers. */
const NO_PROXY = '127.0.0.1,localhost,::1';

const eachCase = (names: readonly string[]): readonly string[] => names.flatMap((name) => [name, name.toLowerCase()]);

/** Variables that hold the proxy's address, and with it the token: name them in `secretNames`. */
export const proxySecretNames: readonly string[] = [
  ...eachCase(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']),
  // What programs of their own reading take before those: a project's .npmrc, pip.conf or .yarnrc cannot lead past the proxy.
  'npm_config_proxy',
  'npm_config_https_proxy',
  'PIP_PROXY',
  'YARN_HTTP_PROXY',
  'YARN_HTTPS_PROXY',
];

/**
 * Variables that send a program's web traffic through the broker's egress proxy: in upper and lower case, since programs
 * read either, those of package managers, and the switch that makes Node obey them. Certificates are left alone: nobody
 * looks into TLS. `endpoint` is the broker's address as seen from inside. The values hold the token: `proxySecretNames`.
 */
export const proxyEnvironment = (endpoint: string, token: string): Record<string, string> => {
  const url = new URL(endpoint);
  url.username = PROXY_USER;
  url.password = token;
  const proxy = url.href.replace(/\/$/, '');
  return {
    ...Object.fromEntries(proxySecretNames.map((name) => [name, proxy])),
    ...Object.fromEntries([...eachCase(['NO_PROXY']), 'npm_config_noproxy'].map((name) => [name, NO_PROXY])),
    // Git asks which way of signing in the proxy has, with a refused request each time, unless it is told.
    GIT_HTTP_PROXY_AUTHMETHOD: 'basic',
    NODE_USE_ENV_PROXY: '1',
  };
};
