import { expect, it } from 'vitest';
import { proxyEnvironment, proxySecretNames } from './proxy-environment.ts';

it('web traffic goes to the proxy with the egress token, loopback does not', () => {
  const url = 'http://egress:a%2Fb@127.0.0.1:7777';
  const noProxy = '127.0.0.1,localhost,::1';
  expect(proxyEnvironment('http://127.0.0.1:7777', 'a/b')).toEqual({
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    https_proxy: url,
    ALL_PROXY: url,
    all_proxy: url,
    npm_config_proxy: url,
    npm_config_https_proxy: url,
    PIP_PROXY: url,
    YARN_HTTP_PROXY: url,
    YARN_HTTPS_PROXY: url,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
    npm_config_noproxy: noProxy,
    GIT_HTTP_PROXY_AUTHMETHOD: 'basic',
    NODE_USE_ENV_PROXY: '1',
  });
});

it('every variable that holds the token is named as a secret', () => {
  const holding = Object.entries(proxyEnvironment('http://127.0.0.1:7777', 'the-token')).filter(([, value]) =>
    value.includes('the-token'),
  );
  expect(holding.map(([name]) => name).toSorted()).toEqual(proxySecretNames.toSorted());
});
