import { expect, it } from 'vitest';
import { proxyEnvironment } from './proxy-environment.ts';

it('web traffic goes to the proxy with the egress token, loopback does not', () => {
  const url = 'http://egress:a%2Fb@127.0.0.1:7777';
  expect(proxyEnvironment('http://127.0.0.1:7777', 'a/b')).toEqual({
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    https_proxy: url,
    ALL_PROXY: url,
    all_proxy: url,
    NO_PROXY: '127.0.0.1,localhost,::1',
    no_proxy: '127.0.0.1,localhost,::1',
    NODE_USE_ENV_PROXY: '1',
  });
});
