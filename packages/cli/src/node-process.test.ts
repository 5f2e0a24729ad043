import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createProcesses } from './node-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-window-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = (name: string, script: string): void => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};

it('a window is shown by the first browser that can, and by none where there is none', async () => {
  const { window } = createProcesses({ PATH: join(folder, 'bin') });
  expect(await window('/tmp/a page.html')).toBeNull();
  program('chromium', 'exit 1');
  program('google-chrome', `echo "$@" > ${join(folder, 'said')}`);
  expect(await window('/tmp/a page.html')).toBe('google-chrome');
  expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('--app=file:///tmp/a%20page.html\n');
  program('chromium', `: > ${join(folder, 'shown')}; exec /bin/sleep 3`);
  expect(await window('/tmp/a.html')).toBe('chromium');
  expect(existsSync(join(folder, 'shown'))).toBe(true);
});
