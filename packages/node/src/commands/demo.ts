import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '../git/run.ts';
import { randomHex, systemRandom } from '../kernel/random.ts';
import type { Verb } from './verb.ts';
import { makeDemo } from './demo/index.ts';

/** `demo`: makes the demo's repository and answers the task for it. */
export const demo: Verb = async ({ values }) => {
  const tag = randomHex(systemRandom, 4);
  const folder = typeof values['folder'] === 'string' ? values['folder'] : join(tmpdir(), `orrery-demo-${tag}`);
  return { result: await makeDemo(folder, tag, createGit()) };
};
