import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createKeeperClient } from '../keeper/client.ts';
import type { Backend, RunSpec } from './backend.ts';
import { probeLeaks } from './leaks.ts';
import { createBackendFactories, resolveBackend } from './registry.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
let root = '';

const named = (name: string): Backend => {
  const parts = { keeper, stateDir: join(root, 'data/exec'), protectedPaths: [join(root, 'data')], variables: process.env };
  return resolveBackend(createBackendFactories(parts), { name, options: {}, allowed: null });
};

const probe = (backend: Backend) =>
  probeLeaks({
    backend,
    keeper,
    directory: join(root, 'probe'),
    plantIn: { data: join(root, 'data'), home: join(root, 'person'), 'another checkout': join(root, 'checkout') },
    roots: [root],
    stateDir: join(root, 'data/exec'),
  });

/** A backend that gives its programs something it should not: each start goes through `change`. */
const leaking = (change: (run: RunSpec, secret: string) => RunSpec): Backend => {
  const backend = named('sandbox');
  return {
    ...backend,
    open: async (spec) => {
      const environment = await backend.open(spec);
      return { ...environment, start: (run) => environment.start(change(run, process.env.ORRERY_LEAK_PROBE ?? '')) };
    },
  };
};

const reversed = (text: string): string => [...text].toReversed().join('');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-leaks-'));
  for (const name of ['data/exec', 'person', 'checkout', 'probe']) mkdirSync(join(root, name), { recursive: true });
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the leak probe', () => {
  it('finds nothing in the sandbox, after a real search, and takes away what it planted', async () => {
    const report = await probe(named('sandbox'));
    expect(report.leaks).toEqual([]);
    expect(report.planted).toEqual([
      'environment of the node',
      'arguments of another process',
      'environment of another process',
      'file in data',
      'file in home',
      'file in another checkout',
    ]);
    expect(report.looked.variables).toBeGreaterThan(5);
    expect([
      process.env.ORRERY_LEAK_PROBE,
      existsSync(join(root, 'person/.orrery-leak-probe')),
      existsSync(join(root, 'probe/victim')),
    ]).toEqual([undefined, false, false]);
  });

  it('finds on local what local does not close, and nothing that every backend promises', async () => {
    const { leaks } = await probe(named('local'));
    expect(leaks.filter(({ promised }) => promised)).toEqual([]);
    const found = new Set(leaks.map(({ canary, where, form }) => `${canary}: ${where}, ${form}`));
    expect([...found]).toEqual(
      expect.arrayContaining([
        'arguments of another process: process table, plain',
        'environment of another process: process table, plain',
        'file in data: files, plain',
        'file in home: files, plain',
        'file in another checkout: files, plain',
      ]),
    );
  });

  it.each<[string, string, (run: RunSpec, secret: string) => RunSpec]>([
    ['environment', 'plain', (run, secret) => ({ ...run, env: { ...run.env, OOPS: secret } })],
    [
      'environment',
      'base64',
      (run, secret) => ({ ...run, env: { ...run.env, OOPS: Buffer.from(`Bearer ${secret}`).toString('base64') } }),
    ],
    ['environment', 'hex', (run, secret) => ({ ...run, env: { ...run.env, OOPS: Buffer.from(secret).toString('hex') } })],
    ['environment', 'url', (run, secret) => ({ ...run, env: { ...run.env, OOPS: encodeURIComponent(secret) } })],
    ['arguments', 'reversed', (run, secret) => ({ ...run, args: [...run.args, reversed(secret)] })],
    ['run state', 'plain', (run, secret) => ({ ...run, args: [...run.args, secret] })],
    [
      'files',
      'base64',
      (run, secret) => {
        writeFileSync(join(run.cwd, 'notes.txt'), Buffer.from(`{"t":"${secret}"}`).toString('base64url'));
        return run;
      },
    ],
  ])('fails a backend that leaks the node’s secret by its %s as %s', async (where, form, change) => {
    const { leaks } = await probe(leaking(change));
    expect(leaks).toContainEqual(expect.objectContaining({ canary: 'environment of the node', where, form, promised: true }));
  });
});
