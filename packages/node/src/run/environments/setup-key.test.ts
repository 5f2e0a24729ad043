import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setupScript } from './place.ts';
import { setupKey } from './setup-key.ts';

let tree = '';
beforeEach(() => (tree = mkdtempSync(join(tmpdir(), 'orrery-key-'))));
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const key = (more: object = {}) =>
  setupKey({ scripts: [Buffer.from('npm ci')], tree, image: null, backend: 'sandbox', cache: [], ...more });

describe('the content key of a set-up', () => {
  it('changes with its scripts, lock files, image, backend and folders, and with nothing else', async () => {
    const first = await key();
    writeFileSync(join(tree, 'source.ts'), 'anything');
    expect(await key()).toBe(first);
    const others = [
      await key({ scripts: [Buffer.from('npm i')] }),
      await key({ image: 'a' }),
      await key({ backend: 'local' }),
      await key({ cache: ['a'] }),
    ];
    writeFileSync(join(tree, 'package-lock.json'), '{}');
    others.push(await key());
    writeFileSync(join(tree, 'package-lock.json'), '{ }');
    others.push(await key());
    expect(new Set([first, ...others]).size).toBe(7);
  });

  it('reads no link and waits for no pipe in place of a lock file', async () => {
    const first = await key();
    symlinkSync('/etc/passwd', join(tree, 'yarn.lock'));
    execFileSync('mkfifo', [join(tree, 'Cargo.lock')]);
    expect(await key()).toBe(first);
  });
});

describe('the script of set-up lines', () => {
  const run = (lines: readonly string[]) => {
    try {
      return { output: execFileSync('bash', ['-c', setupScript(lines)], { encoding: 'utf8' }), failed: false };
    } catch (thrown) {
      return { output: String((thrown as { stdout: unknown }).stdout), failed: true };
    }
  };

  it('shows each line as it is written, then runs it, and ends at the first that fails', () => {
    expect(run([`echo "it's $((1 + 1))"`, 'false', 'echo never'])).toEqual({
      output: `$ echo "it's $((1 + 1))"\nit's 2\n$ false\n`,
      failed: true,
    });
  });
});
