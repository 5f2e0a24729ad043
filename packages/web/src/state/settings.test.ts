import { describe, expect, it } from 'vitest';
import { keptSettings } from './settings.ts';

const items = [
  { key: 'queue.parallel', origin: '/etc/config.yaml:2', description: 'Tasks at once' },
  { key: 'queue.perProject', origin: 'default', description: 'Of one project' },
  { key: 'name', origin: 'default', description: 'What the node is called' },
];
const keysOf = (words: string, which: string) => keptSettings(items, { words, which }).map(({ key }) => key);

describe('settings that were asked for', () => {
  it('are those somebody set, or all', () => {
    expect(keysOf('', 'set')).toEqual(['queue.parallel']);
    expect(keysOf('  ', 'all')).toEqual(['queue.parallel', 'queue.perProject', 'name']);
  });

  it('are looked for among all, by every word, in keys and in what they are', () => {
    expect(keysOf('QUEUE', 'set')).toEqual(['queue.parallel', 'queue.perProject']);
    expect(keysOf('project queue', 'set')).toEqual(['queue.perProject']);
    expect(keysOf('called', 'all')).toEqual(['name']);
    expect(keysOf('nothing', 'all')).toEqual([]);
  });
});
