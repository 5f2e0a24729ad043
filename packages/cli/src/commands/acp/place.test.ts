import { describe, expect, it } from 'vitest';
import { placeOf } from './place.ts';

const place = placeOf({ root: '/home/me/shop', workdir: () => '/data/slot/tree' });

describe('paths of an environment and of an editor', () => {
  it('stand for the same file on both sides, and nothing else is changed', () => {
    expect({
      out: ['/data/slot/tree/a/b.ts', 'a/b.ts', '/data/slot/tree', '/etc/passwd', '../x', '/data/slot/tree-2/a'].map(
        place.outward,
      ),
      in: ['/home/me/shop/a/b.ts', '/home/me/shop', '/home/me/shopping/a', '/etc/passwd', 'a/b.ts'].map(place.inward),
      uris: [
        'file:///home/me/shop/a%20b.ts#L3',
        'file:///home/me/shop/..%2f..%2fx',
        'file://elsewhere/x',
        'https://example.org/home/me/shop',
        'file:///%zz',
      ].map(place.inwardUri),
    }).toEqual({
      out: ['/home/me/shop/a/b.ts', '/home/me/shop/a/b.ts', '/home/me/shop', '/etc/passwd', '../x', '/data/slot/tree-2/a'],
      in: ['a/b.ts', '.', '/home/me/shopping/a', '/etc/passwd', 'a/b.ts'],
      uris: [
        'a b.ts',
        'file:///home/me/shop/..%2f..%2fx',
        'file://elsewhere/x',
        'https://example.org/home/me/shop',
        'file:///%zz',
      ],
    });
  });

  it('stay as they are where there is no checkout yet, or the folder is another one', () => {
    const early = placeOf({ root: '/home/me/shop', workdir: () => null });
    const elsewhere = placeOf({ root: null, workdir: () => '/data/slot/tree' });
    expect([early.outward('/data/slot/tree/a'), early.inward('/home/me/shop/a'), elsewhere.outward('/data/slot/tree/a')]).toEqual(
      ['/data/slot/tree/a', 'a', '/data/slot/tree/a'],
    );
  });
});
