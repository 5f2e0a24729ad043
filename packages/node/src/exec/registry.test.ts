import { describe, expect, it } from 'vitest';
import type { GuaranteeReport, KeeperClient } from '../keeper/types.ts';
import { createBackendFactories, resolveBackend } from './registry.ts';

const report = (guarantee: GuaranteeReport['guarantee'], held: boolean): GuaranteeReport => ({
  guarantee,
  held,
  by: held ? 'the kernel' : 'nothing',
  missing: held ? null : 'no user namespaces',
});
const probed = [
  report('files', true),
  report('network', false),
  report('hosts', false),
  report('processes', true),
  report('signals', true),
  report('limits', true),
];
const unused = (): never => {
  throw new Error('not part of this test');
};
const keeper: KeeperClient = {
  launch: unused,
  adopt: unused,
  remains: unused,
  readSpool: unused,
  inputState: unused,
  end: unused,
  remove: unused,
  probe: () => Promise.resolve(probed),
};
const factories = createBackendFactories({ keeper, stateDir: '/d/exec', protectedPaths: ['/d'], variables: {} });
const resolve = (name: string, { options, allowed = null }: { options?: unknown; allowed?: readonly string[] | null } = {}) =>
  resolveBackend(factories, { name, options, allowed });

describe('choosing a backend', () => {
  it.each(['sandbox', 'landlock', 'landrun'])('%s is the sandbox', (name) => {
    expect(resolve(name).name).toBe('sandbox');
  });

  it('an unknown name lists the known ones with a guess', () => {
    expect(() => resolve('sandbx')).toThrow(
      expect.objectContaining({
        code: 'unknown_name',
        rule: 'Backends here: sandbox, bubblewrap, local.',
        fix: 'Did you mean "sandbox"?',
      }),
    );
  });

  it('a forbidden name is refused and never replaced; an alias in the list allows what it names', () => {
    expect(() => resolve('local', { allowed: ['sandbox'] })).toThrow(
      expect.objectContaining({ code: 'backend_forbidden', rule: 'The operator allows: sandbox.' }),
    );
    expect(() => resolve('sandbox', { allowed: [] })).toThrow(expect.objectContaining({ code: 'backend_forbidden' }));
    expect(resolve('sandbox', { allowed: ['landlock'] }).name).toBe('sandbox');
  });

  it('a wrong option names the key and guesses the right one; a wrong value names its place', () => {
    expect(() => resolve('sandbox', { options: { toolPath: [] } })).toThrow(
      expect.objectContaining({
        code: 'unknown_key',
        message: 'execution.options.sandbox has no key "toolPath".',
        fix: 'Did you mean "toolPaths"?',
      }),
    );
    expect(() => resolve('sandbox', { options: { toolPaths: ['relative'] } })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: 'execution.options.sandbox.toolPaths.0: an absolute path.' }),
    );
    expect(() => resolve('local', { options: 'text' })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('preflight', () => {
  it('names what is missing, why, and both ways on', async () => {
    await expect(resolve('sandbox').preflight(['files', 'network', 'processes'])).rejects.toMatchObject({
      code: 'guarantee_missing',
      message: 'sandbox cannot guarantee network (no user namespaces).',
      rule: 'Required here: files, network, processes. Nothing is started with less.',
      fix: expect.stringContaining('orrery run --backend local'),
    });
    await expect(resolve('sandbox').preflight(['files', 'processes'])).resolves.toBeUndefined();
  });

  it('requires walls of the sandbox by default, and none of local, which says that it has none', async () => {
    const local = resolve('local');
    expect([resolve('sandbox').defaultRequired, local.defaultRequired]).toEqual([['files', 'network', 'processes'], []]);
    expect((await local.guarantees()).filter(({ held }) => held).map(({ guarantee }) => guarantee)).toEqual(['limits']);
    await expect(local.preflight(['files'])).rejects.toMatchObject({
      code: 'guarantee_missing',
      fix: expect.stringContaining('--backend sandbox'),
    });
  });
});
