import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProcesses, sparingMemory } from './node-process.ts';

it.each([
  ['as the command line says', {}, sparingMemory.environment.MALLOC_MMAP_THRESHOLD_],
  ['as the user said', { MALLOC_MMAP_THRESHOLD_: '131072' }, '131072'],
])('starts a node sparing of memory, %s', { timeout: 60_000 }, async (_, own, threshold) => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-sparing-'));
  try {
    const entry = join(folder, 'entry.mjs');
    const said = '[process.execArgv, process.env.MALLOC_MMAP_THRESHOLD_, process.argv.slice(2)]';
    writeFileSync(entry, `console.log(JSON.stringify({ url: JSON.stringify(${said}) }));\n`);
    const processes = createProcesses({ PATH: process.env['PATH'], ...own }, () => entry);
    const { url, node } = await processes.startNode({ args: ['--x'], logFile: null });
    expect([JSON.parse(url), await node.ended]).toEqual([[sparingMemory.flags, threshold, ['up', '--x']], 0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
