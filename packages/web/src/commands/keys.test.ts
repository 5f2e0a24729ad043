import { describe, expect, it } from 'vitest';
import { createKeys } from './keys.ts';
import { createCommands, type Command } from './registry.ts';

const command = (id: string, keys?: string, more: Partial<Command> = {}): Command => ({
  id,
  does: id,
  group: 'Do',
  ...(keys === undefined ? {} : { keys }),
  run: () => undefined,
  ...more,
});
const plain = { ctrlKey: false, metaKey: false, altKey: false };

describe('commands', () => {
  it('are those of all that is shown; the newest has its keys and its name', () => {
    const { add, list } = createCommands();
    add(() => [command('page', 'j'), command('stop', 's')]);
    const leave = add(() => [command('review', 'j'), command('stop', 'x'), command('never', 'n', { when: () => false })]);
    expect(list().map(({ id, keys }) => [id, keys])).toEqual([
      ['review', 'j'],
      ['stop', 'x'],
    ]);
    leave();
    expect(list().map(({ id }) => id)).toEqual(['page', 'stop']);
  });

  it('are done by one key, by two after another in time, and by Ctrl or Cmd', () => {
    const all = [command('sessions', 'g s'), command('side', 's'), command('palette', 'Mod+k')];
    const step = createKeys();
    const press = (key: string, atMs: number, more = {}): string => {
      const next = step({ ...plain, key, ...more }, all, atMs);
      return next.kind === 'run' ? next.command.id : next.kind;
    };
    expect([press('g', 0), press('s', 1_000)]).toEqual(['wait', 'sessions']);
    expect([press('g', 2_000), press('s', 4_000)]).toEqual(['wait', 'side']);
    expect([press('g', 5_000), press('q', 5_100), press('s', 5_200)]).toEqual(['wait', 'none', 'side']);
    expect([press('k', 6_000, { metaKey: true }), press('k', 6_000, { ctrlKey: true }), press('k', 6_000)]).toEqual([
      'palette',
      'palette',
      'none',
    ]);
    expect(press('s', 7_000, { altKey: true })).toBe('none');
    // The key that makes a sign does not come between.
    expect([press('g', 8_000), press('Shift', 8_050), press('s', 8_100)]).toEqual(['wait', 'none', 'sessions']);
  });
});
