/** Headers that speak of one connection only (RFC 9110 §7.6.1), and `expect`, which whoever passes a request on answers itself. */
export const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
];
