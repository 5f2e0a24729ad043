import { describe, expect, it } from 'vitest';
import { NEEDS, lacks, probeMachine } from './machine.ts';
import type { Machine } from './machine.ts';

const bare: Machine = {
  platform: 'linux-x64',
  node: 'v24.0.0',
  root: false,
  userNamespaces: false,
  keeper: undefined,
  landlock: undefined,
  compiler: undefined,
  git: undefined,
  bubblewrap: undefined,
  docker: undefined,
  sshServer: undefined,
  cluster: undefined,
  programs: [],
};
const full: Machine = {
  ...bare,
  root: true,
  userNamespaces: true,
  keeper: '/k',
  landlock: 7,
  compiler: 'cc',
  git: 'git version 2.39.5',
  bubblewrap: 'bubblewrap 0.8.0',
  docker: 'Docker version 20.10.24',
  sshServer: '/usr/sbin/sshd',
  cluster: '/lab/kubernetes',
  programs: ['pi', 'claude', 'codex', 'opencode', 'gemini', 'copilot', 'qwen'],
};

describe('what a suite needs of the machine', () => {
  it('is there on a machine that has everything', () => {
    expect(lacks(full, NEEDS)).toEqual([]);
  });

  it.each(NEEDS)('%s is missing on a bare machine, and said with a way to get it', (need) => {
    const said = lacks(bare, [need]);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/\(.+\)|: /);
  });

  it('counts a Landlock that is switched off as missing', () => {
    expect(lacks({ ...full, landlock: 0 }, ['landlock'])).toHaveLength(1);
  });

  it('is probed from this machine', () => {
    const found = probeMachine();
    expect({ node: found.node, root: found.root, git: found.git?.startsWith('git version') }).toEqual({
      node: process.version,
      root: process.getuid?.() === 0,
      git: true,
    });
  });
});
