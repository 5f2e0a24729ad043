import { describe, expect, it } from 'vitest';
import { createEgressRules, parseEgressRule } from './egress-rules.ts';
import { isPrivateAddress, parseAuthority, parseHost } from '../kernel/host-name.ts';

const host = (text: string) => parseHost(text)!;

describe('hosts', () => {
  it('have one form, whatever the notation', () => {
    const forms = [
      'EXAMPLE.com',
      'example.com.',
      'bücher.example',
      'xn--bcher-kva.example',
      '127.0.0.1',
      '127.1',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '2130706433',
      '127.0.0.1.',
      '::1',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '0:0:0:0:0:ffff:10.0.0.1',
      '::10.0.0.1',
      '2001:DB8::0:1',
    ];
    expect(forms.map((form) => parseHost(form)?.text)).toEqual([
      ...['example.com', 'example.com', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
      ...['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
      ...['::1', '::1', '127.0.0.1', '127.0.0.1', '10.0.0.1', '10.0.0.1', '2001:db8::1'],
    ]);
  });

  it('are refused when they are none', () => {
    for (const none of [
      '',
      ' ',
      'a b',
      'a/b',
      'user@host',
      'a%2eb',
      'fe80::1%eth0',
      '[::1]',
      'a:b',
      '999.1.1.1',
      '..',
      'a'.repeat(301),
    ])
      expect([none, parseHost(none)]).toEqual([none, null]);
    for (const none of ['host', 'host:', 'host:0', 'host:65536', '::1:80', '[host]:80', 'host:80:90', 'http://host:80'])
      expect([none, parseAuthority(none)]).toEqual([none, null]);
  });

  it('know private, loopback, link-local, reserved and tunnelled addresses', () => {
    const secret = [
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.9.9.9',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '2001:0:1::',
      'not an address',
    ];
    expect(secret.filter((address) => !isPrivateAddress(address))).toEqual([]);
    expect(['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1'].filter(isPrivateAddress)).toEqual([]);
  });
});

describe('egress rules', () => {
  it('allow a host on the web ports or on the port they name', () => {
    const rules = createEgressRules({ allow: ['a.test', 'B.test.:8443', '*.c.test', '10.0.0.5:81', '[::1]:9', '::2'], deny: [] });
    const allowed = (text: string, port: number) => rules.refusal(host(text), port) === null;
    expect([allowed('a.test', 443), allowed('a.test', 80), allowed('a.test', 22), allowed('x.a.test', 443)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([allowed('b.test', 8443), allowed('b.test', 443)]).toEqual([true, false]);
    expect([allowed('c.test', 443), allowed('x.c.test', 443), allowed('y.x.c.test', 443), allowed('xc.test', 443)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([allowed('10.0.0.5', 81), allowed('10.0.0.5', 80), allowed('0:0::1', 9), allowed('::2', 443)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('let a denial win, on every port when it names none', () => {
    const rules = createEgressRules({ allow: ['*.test', 'x.test:22'], deny: ['x.test', 'y.test:80'] });
    expect([rules.refusal(host('x.test'), 22), rules.refusal(host('y.test'), 80), rules.refusal(host('y.test'), 443)]).toEqual([
      'the operator denies it',
      'the operator denies it',
      null,
    ]);
  });

  it('dial public addresses, and private ones only when a rule names them', () => {
    const rules = createEgressRules({ allow: ['a.test', '10.0.0.5:81', 'localhost:3000'], deny: ['9.9.9.9'] });
    expect([
      rules.mayDial('1.1.1.1', 443),
      rules.mayDial('10.0.0.5', 81),
      rules.mayDial('10.0.0.5', 80),
      rules.mayDial('127.0.0.1', 3000),
      rules.mayDial('::1', 3000),
      rules.mayDial('127.0.0.2', 3000),
      rules.mayDial('9.9.9.9', 443),
    ]).toEqual([...[true, true, false, true, true, false, false]]);
  });

  it('are refused with an example when they make no sense', () => {
    for (const text of ['', '*', '*.', 'a b', 'http://a.test', 'a.test/path', '*.10.0.0.1', 'a.*.test', 'a.test:0', 'a.test:x'])
      expect(() => parseEgressRule(text), text).toThrow(/is no egress rule/);
  });
});
