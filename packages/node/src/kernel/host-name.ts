// Glossary. A host is compared in one form: lower case, punycode, no trailing dot; an address in its shortest form, and an
// IPv4 address inside IPv6 as IPv4. A rule is `host`, `*.host` or an address, each with `:port` or without.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** A host in its one form. */
export type Host = { readonly kind: 'name' | 'address'; readonly text: string };

/** Reads a host in any notation (case, punycode, trailing dot, decimal, octal and hexadecimal addresses); null when it is none. */
export const parseHost = (given: string): Host | null => {
  if (given === '' || given.length > 300 || /[\s/\\?#@%[\]]/.test(given)) return null;
  const dotless = given.replace(/\.$/, '');
  const bare = isIPv6(dotless) ? `[${dotless}]` : dotless;
  let hostname: string;
  try {
    hostname = new URL(`http://${bare}/`).hostname;
  } catch {
    return null;
  }
  const text = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (text === '' || text.includes(':') !== isIPv6(text)) return null;
  if (isIP(text) !== 0) return { kind: 'address', text: plainAddress(text) };
  return { kind: 'name', text };
};

/** IPv4-mapped (`::ffff:a.b.c.d`) and IPv4-compatible addresses as IPv4, others as they are. */
export const plainAddress = (address: string): string => {
  const groups = isIPv6(address) ? expand(address) : null;
  if (groups === null) return address;
  const mapped = groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0xffff || groups[5] === 0);
  const [high = 0, low = 0] = groups.slice(6);
  // :: and ::1 are IPv6's own.
  if (!mapped || (groups[5] === 0 && high === 0 && low <= 1)) return shortest(address);
  return dotted(high, low);
};

const shortest = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);

const dotted = (high: number, low: number): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');

/** The eight groups of an IPv6 address. */
const expand = (address: string): readonly number[] | null => {
  const zoneless = address.split('%')[0] ?? '';
  let text: string;
  try {
    text = new URL(`http://[${zoneless}]/`).hostname.slice(1, -1);
  } catch {
    return null;
  }
  const [left = '', right] = text.split('::');
  const numbers = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const head = numbers(left);
  const tail = right === undefined ? [] : numbers(right);
  const gap = right === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: gap }, () => 0), ...tail];
};

const blockList = (type: 'ipv4' | 'ipv6', ranges: readonly (readonly [net: string, bits: number])[]): BlockList => {
  const list = new BlockList();
  for (const [net, bits] of ranges) list.addSubnet(net, bits, type);
  return list;
};

// Two lists: a range of IPv6 that holds the mapped addresses would match every IPv4 address.
const PRIVATE_IPV4 = blockList('ipv4', [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
  ] as const),
  ...([
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
]);
/** All of IPv6 that is not global unicast, and the ways to reach IPv4 through it. */
const PRIVATE_IPV6 = blockList('ipv6', [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);

/** Whether an address is private, loopback, link-local, multicast, reserved or a tunnel to such. Anything that is no address is. */
export const isPrivateAddress = (address: string): boolean => {
  const plain = plainAddress(address.split('%')[0] ?? '');
  if (isIPv4(plain)) return PRIVATE_IPV4.check(plain, 'ipv4');
  return isIPv6(plain) ? PRIVATE_IPV6.check(plain, 'ipv6') : true;
};

/** `host:port` of a CONNECT request, with the brackets of IPv6; null when it is none. */
export const parseAuthority = (text: string): { readonly host: Host; readonly port: number } | null => {
  const [, bracketed, bare, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = parseHost(bracketed ?? bare ?? '');
  const port = Number(digits);
  if (host === null || !(port >= 1 && port <= 65_535)) return null;
  return bracketed !== undefined && host.kind !== 'address' ? null : { host, port };
};
