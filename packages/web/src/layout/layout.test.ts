import { describe, expect, it } from 'vitest';
import { closed, keepLayout, moved, noTabs, opened, readLayout, split, stepped } from './layout.ts';

const pathsOf = ({ tabs, at }: ReturnType<typeof opened>): unknown => [tabs.map(({ path }) => path), at];

describe('tabs', () => {
  it('begin with the page that is shown, and end with the last but one', () => {
    const two = opened(noTabs, '/tasks', '/sessions/a');
    expect(pathsOf(two)).toEqual([['/sessions/a', '/tasks'], 1]);
    const three = opened({ ...two, at: 0 }, '/', '/sessions/a');
    expect(pathsOf(three)).toEqual([['/sessions/a', '/', '/tasks'], 1]);
    expect(pathsOf(closed(three, 0))).toEqual([['/', '/tasks'], 0]);
    expect(pathsOf(closed(three, 1))).toEqual([['/sessions/a', '/tasks'], 1]);
    expect(closed(two, 1)).toEqual(noTabs);
  });

  it('are gone through in a round, and each has its own page and what stands beside', () => {
    const two = split(opened(noTabs, '/tasks', '/'), '/terminals/x', '/tasks');
    expect(stepped(two, 1).at).toBe(0);
    expect(stepped(stepped(two, 1), -1)).toEqual(two);
    expect(moved(two, { path: '/tasks/t' }).tabs).toEqual([
      { path: '/', beside: null },
      { path: '/tasks/t', beside: '/terminals/x' },
    ]);
    const alone = split(noTabs, '/tasks', '/');
    expect([alone.tabs.length, split(alone, null, '/')]).toEqual([1, noTabs]);
  });

  it('are bounded, kept, and read again without what is no page of this client', () => {
    let many = noTabs;
    for (let count = 0; count < 30; count += 1) many = opened(many, '/tasks', '/');
    expect(many.tabs.length).toBe(20);
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
      removeItem: (key: string) => void kept.delete(key),
    };
    const two = split(opened(noTabs, '/tasks', '/'), '/terminals/x', '/tasks');
    keepLayout(storage, two);
    expect(readLayout(storage)).toEqual(two);
    kept.set('orrery.layout', '{"tabs":[{"path":"//evil"},{"path":"/login#key"},null,{"path":"/tasks","beside":7}],"at":9}');
    expect(readLayout(storage)).toEqual({ tabs: [{ path: '/tasks', beside: null }], at: 0 });
    kept.set('orrery.layout', 'no json');
    expect(readLayout(storage)).toEqual(noTabs);
  });
});
