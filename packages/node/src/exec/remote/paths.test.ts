import { describe, expect, it } from 'vitest';
import { createPathMap } from './paths.ts';

const map = createPathMap([
  { local: '/data/work', inside: '/place/work' },
  { local: '/data/work/.git/borrowed', inside: '/place/borrowed' },
  { local: '/data/home', inside: '/place/home' },
  { local: '/opt/seen', inside: '/opt/seen' },
]);

describe('a path of this machine in a place', () => {
  it.each([
    ['/data/work', '/place/work'],
    ['/data/work/a/b', '/place/work/a/b'],
    ['/data/work/.git/borrowed/pack', '/place/borrowed/pack'],
    ['/opt/seen/x', '/opt/seen/x'],
    ['/data/workshop', null],
    ['/usr/bin', null],
  ])('%s is %s', (local, inside) => {
    expect(map.path(local)).toBe(inside);
  });

  it.each([
    ['/data/work', '/place/work'],
    ['--cwd=/data/work/sub', '--cwd=/place/work/sub'],
    ['/data/home/bin:/usr/bin:/data/work/bin', '/place/home/bin:/usr/bin:/place/work/bin'],
    [`readFileSync('/data/work/f')`, `readFileSync('/place/work/f')`],
    ['see /data/workshop and /mnt/data/work', 'see /data/workshop and /mnt/data/work'],
    ['cat "/data/work/.git/borrowed/x" > /data/home/y', 'cat "/place/borrowed/x" > /place/home/y'],
  ])('within a text: %s', (value, mapped) => {
    expect(map.text(value)).toBe(mapped);
  });

  it('is left as it is where nothing has to be brought', () => {
    expect(createPathMap([{ local: '/w', inside: '/w' }]).text('/w/a /x')).toBe('/w/a /x');
  });
});
