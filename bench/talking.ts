// Sessions for benchmarks: a repository, and a program that says what it is to say without a model.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealNode } from './real-node.ts';

/** A repository with one file. */
export const makeRepository = (directory: string): string => {
  const repository = join(directory, 'repository');
  mkdirSync(repository);
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-C', repository, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args]);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'a file');
  return repository;
};

/** A session in which a program said so much in one turn, once it rests. */
export const talk = async (node: RealNode, project: string, harness: string): Promise<string> => {
  const { id } = await node.client.call('sessionCreate', { body: { project, harness, mode: 'all', prompt: 'Talk.' } });
  for (;;) {
    const { state, reason } = await node.client.call('sessionShow', { params: { id } });
    if (state === 'idle' || state === 'dormant') return id;
    if (state === 'failed' || state === 'ended') throw new Error(`a session ${state}: ${reason}`);
    await sleep(500);
  }
};
