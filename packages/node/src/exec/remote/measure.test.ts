import { describe, expect, it } from 'vitest';
import { readMeasure } from './measure.ts';

const stat = (pid: number, parent: number, { name = 'x', state = 'S', ticks = pid * 10, pages = 5 } = {}): string =>
  `process ${pid} (${name}) ${state} ${parent} ${Array(17).fill('0').join(' ')} ${ticks} 99 ${pages} 0`;

describe('what a host says of its processes', () => {
  it('counts what lives below the keepers of the environment', () => {
    const said = [
      'disk 12',
      'page 4096',
      stat(1, 0),
      stat(10, 1),
      stat(11, 10, { name: 'a) S (b' }),
      stat(12, 11, { pages: 7 }),
      stat(13, 11, { state: 'Z' }),
      stat(20, 1),
      stat(21, 20),
      'keeper {"version":1,"pid":10,"startTicks":100,"bootId":"b"}',
      'keeper {"version":1,"pid":20,"startTicks":999,"bootId":"b"}',
      'keeper torn{',
    ].join('\n');
    expect(readMeasure(said)).toEqual({ processes: 2, memoryBytes: 12 * 4096, diskBytes: 12 * 1024 });
  });

  it('guesses nothing', () => {
    expect(readMeasure('disk \npage \n')).toEqual({ processes: null, memoryBytes: null, diskBytes: null });
  });
});
