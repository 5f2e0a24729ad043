import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findEscapeBinary, findKeeperBinary } from '../keeper/binary.ts';
import { createKeeperClient } from '../keeper/client.ts';
import type { Backend } from './backend.ts';
import { createKeeperBackend, freeLoopbackPort } from './keeper-backend.ts';
import { createBackendFactories, resolveBackend } from './registry.ts';
import { renderSandbox } from './sandbox/render.ts';
import { selftestBackend } from './selftest.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
let root = '';

const parts = () => ({ keeper, stateDir: join(root, 'data/exec'), protectedPaths: [join(root, 'data')], variables: {} });
const named = (name: string) => resolveBackend(createBackendFactories(parts()), { name, options: {}, allowed: null });

/** A sandbox with three holes: a directory too many, the host's network, Unix sockets. */
const holed = () =>
  createKeeperBackend(
    {
      name: 'holed',
      notice: null,
      cannotStop: [],
      defaultRequired: [],
      guarantees: keeper.probe,
      front: { brokerHoldMs: 1000, brokerHoldMax: 1 },
      frontPort: freeLoopbackPort,
      render: (input) => {
        const spec = renderSandbox(input, { toolPaths: [], unixSockets: true });
        const files = [
          ...spec.confinement!.files,
          { path: join(root, 'test/outside'), access: 'rwx' as const },
          { path: join(root, 'person'), access: 'ro' as const },
        ];
        return { ...spec, confinement: { ...spec.confinement!, files, network: 'host' } };
      },
    },
    parts(),
  );

const tried = (backend: Backend, escapeProgram?: string) => {
  const closed = [
    { name: 'data', path: join(root, 'data') },
    { name: 'home', path: join(root, 'person') },
    { name: 'shadow', path: '/etc/shadow' },
    { name: 'tmp', path: '/tmp' },
  ];
  return selftestBackend({ backend, directory: join(root, 'test'), closed, escapeProgram });
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-selftest-'));
  for (const name of ['data', 'person', 'test']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'person/letter'), 'x');
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the self-test', () => {
  it.each(['build', 'prebuilt'])(
    'finds nothing that gets out of the sandbox, and what must work works (native/%s)',
    async (from) => {
      const program = findEscapeBinary({ isExecutable: (path) => path.includes(`/native/${from}/`) && existsSync(path) });
      const attempts = await tried(named('sandbox'), program);
      expect(attempts.length).toBeGreaterThan(60);
      expect(attempts.filter(({ ok }) => !ok)).toEqual([]);
      expect(attempts.filter(({ seen }) => seen === 'allowed').map(({ name }) => name)).toEqual(
        expect.arrayContaining(['inside-write', 'own-server']),
      );
    },
  );

  it('finds each hole of a backend that has some', async () => {
    const failed = (await tried(holed())).filter(({ ok }) => !ok).map(({ name }) => name);
    expect(failed).toEqual(
      expect.arrayContaining(['secret-read', 'secret-unlink', 'other-port-v4', 'docker-socket', 'path-home', 'listener-heard']),
    );
    expect(failed).not.toContain('path-data');
  });

  it('makes no attempt where there is no wall: attempts are real', async () => {
    await expect(tried(named('local'))).rejects.toMatchObject({ code: 'guarantee_missing' });
  });

  it('rejects rather than to say that nothing was found when nothing was tried', async () => {
    const program = join(root, 'escape');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    await expect(tried(named('sandbox'), program)).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: 'Only 0 attempts were made inside.',
    });
  });
});
