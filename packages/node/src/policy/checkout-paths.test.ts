import { describe, expect, it } from 'vitest';
import { holdsOrders, insideOf } from './checkout-paths.ts';

describe('a path of the checkout', () => {
  it('is told from what lies beside it, also as a URL', () => {
    expect(insideOf('/place', 'file:///place/a%20b')).toBe('a b');
    for (const path of ['file:///etc/passwd', 'file:///place/../x', 'file://host/place/a', '~/a', '/place', '../a'])
      expect([path, insideOf('/place', path)]).toEqual([path, null]);
  });

  it('holds orders in the folders of programs, in any letters; texts for agents are work as far as a mode goes', () => {
    for (const path of [
      '.git/config',
      '.GIT/config',
      '.cl\u200baude/x',
      '.agents/skills/x',
      '.husky/x',
      '.Orrery/agents/x',
      '.MCP.json',
    ])
      expect([path, holdsOrders(path)]).toEqual([path, true]);
    for (const path of ['AGENTS.md', 'docs/CLAUDE.md', '.envrc', '.gitignore', 'sub/.git/x'])
      expect([path, holdsOrders(path)]).toEqual([path, false]);
  });
});
