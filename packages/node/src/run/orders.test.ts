import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOrreryError } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lineHarness } from '../../test/run-parts.ts';
import { copilotHarness } from '../harness/copilot/index.ts';
import { opencodeHarness } from '../harness/opencode/index.ts';
import { refuseOrders } from './orders.ts';

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'orders-'));
});
afterEach(() => rmSync(checkout, { recursive: true }));

const parts = (trusted: boolean) => ({ trustedProject: async () => ({ trusted, name: 'demo' }) });
const put = (path: string): void => {
  mkdirSync(join(checkout, path, '..'), { recursive: true });
  writeFileSync(join(checkout, path), '');
};
const looked = (harness: typeof lineHarness, { projectId = 'prj_1' as string | null, trusted = false } = {}) =>
  refuseOrders(parts(trusted), { harness, projectId, checkout }).then(
    () => null,
    (thrown: unknown) => toOrreryError(thrown).toLines(),
  );

describe('what a checkout brings to be run', () => {
  it('is refused in three lines that name it, for the program that would run it', async () => {
    for (const path of ['.opencode/plugin/x.js', 'opencode.jsonc', '.github/hooks/x.json']) put(path);
    expect(await looked(opencodeHarness)).toEqual([
      expect.stringContaining('.opencode, opencode.jsonc'),
      expect.stringContaining('the operator trusts'),
      expect.stringContaining('"demo" to execution.trustedProjects'),
    ]);
    expect((await looked(copilotHarness))?.[0]).toContain('brings: .github/hooks.');
    expect(await looked(lineHarness)).toBeNull();
  });

  it('runs in a project that the operator trusts, and is not looked for where there is no project', async () => {
    put('.github/hooks/x.json');
    expect([await looked(copilotHarness, { trusted: true }), await looked(copilotHarness, { projectId: null })]).toEqual([
      null,
      null,
    ]);
  });

  it('is not there when nothing of it is', async () => {
    put('.github/workflows/x.yml');
    put('src/opencode.json');
    expect([await looked(copilotHarness), await looked(opencodeHarness)]).toEqual([null, null]);
    rmSync(join(checkout, '.github'), { recursive: true });
    put('.github');
    expect(await looked(copilotHarness)).toBeNull();
  });

  it('counts as there behind a link, which nobody follows', async () => {
    symlinkSync('/nowhere', join(checkout, '.github'));
    symlinkSync('/nowhere', join(checkout, 'opencode.json'));
    expect([(await looked(copilotHarness))?.[0], (await looked(opencodeHarness))?.[0]]).toEqual([
      expect.stringContaining('.github/hooks'),
      expect.stringContaining('opencode.json'),
    ]);
  });

  it('is refused when nobody can tell', async () => {
    // A name that no file can have is not an absence.
    const harness = { ...lineHarness, orders: ['a'.repeat(300)] };
    expect(await looked(harness)).not.toBeNull();
  });
});
