// The escape suite on a backend whose environments are places somewhere else: what programs find that try to get out.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../src/exec/backend.ts';
import { probeLeaks } from '../../src/exec/leaks.ts';
import { selftestBackend } from '../../src/exec/selftest.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createKeeperClient } from '../../src/keeper/client.ts';

/** Where a backend under test keeps its state, and the node's own directory, which it must never grant. */
export type EscapePlace = { readonly stateDir: string; readonly data: string };

/** What is told of a backend. */
export type EscapeSubject = {
  readonly backend: (place: EscapePlace) => Backend;
  /** Names and paths in a place that no program may open, beside the node's data, its person's files and the passwords. */
  readonly closed: () => Readonly<Record<string, string>>;
  /** Directories as a place sees them that are searched for secrets, beside those planted in. */
  readonly roots?: () => readonly string[];
  /** What is there of environments after each case. */
  readonly left: () => Promise<readonly unknown[]>;
};

/** Attempts of the self-test: fewer means that it did not try. */
const ATTEMPTS = 60;

/** Runs every case of the suite. */
export const describeEscape = (name: string, subject: EscapeSubject): void => {
  describe(name, () => {
    let root = '';
    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'orrery-escape-'));
      chmodSync(root, 0o755);
      for (const folder of ['data/exec', 'person', 'checkout', 'test']) mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, 'person/letter'), 'x');
    });
    afterEach(() => rmSync(root, { recursive: true, force: true }));
    const backend = (): Backend => subject.backend({ stateDir: join(root, 'data/exec'), data: join(root, 'data') });

    it('no attempt gets out, and what must work works', async () => {
      const closed = { data: join(root, 'data'), home: join(root, 'person'), shadow: '/etc/shadow', ...subject.closed() };
      const attempts = await selftestBackend({
        backend: backend(),
        directory: join(root, 'test'),
        closed: Object.entries(closed).map(([what, path]) => ({ name: what, path })),
      });
      expect(attempts.filter(({ ok }) => !ok)).toEqual([]);
      expect(attempts.length).toBeGreaterThan(ATTEMPTS);
      expect(await subject.left()).toEqual([]);
    });

    it('no secret of the node, of its neighbours or of the run is found, after a real search', async () => {
      const report = await probeLeaks({
        backend: backend(),
        keeper: createKeeperClient({ binary: () => findKeeperBinary() }),
        directory: join(root, 'test'),
        plantIn: { data: join(root, 'data'), home: join(root, 'person'), 'another checkout': join(root, 'checkout') },
        roots: [root, ...(subject.roots?.() ?? [])],
        stateDir: join(root, 'data/exec'),
      });
      expect(report.leaks).toEqual([]);
      expect(report.planted).toHaveLength(6);
      expect(report.looked.variables).toBeGreaterThan(5);
      expect(await subject.left()).toEqual([]);
    });
  });
};
