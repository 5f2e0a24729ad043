import { describe, expect, it } from 'vitest';
import { canonicalBackend, namesBackend } from '../config/backend-names.ts';
import { dockerFactory } from '../exec/docker/index.ts';
import { kubernetesFactory } from '../exec/kubernetes/index.ts';
import { createBackendFactories } from '../exec/registry.ts';
import { sshFactory } from '../exec/ssh/index.ts';

const factories = [
  ...createBackendFactories({ keeper: {} as never, stateDir: '/d', protectedPaths: [], variables: {} }),
  ...[dockerFactory, kubernetesFactory, sshFactory].map((make) => make({} as never)),
];

describe('other names of backends', () => {
  it('mean the same to the configuration as to the backends', () => {
    for (const { name, aliases } of factories)
      expect([name, ...aliases].map(canonicalBackend)).toEqual([name, ...aliases].map(() => name));
    expect(factories.flatMap(({ aliases }) => aliases).toSorted()).toEqual(['bwrap', 'k8s', 'landlock', 'landrun', 'podman']);
  });

  it('are found in a list by any of them, and no other is', () => {
    for (const listed of ['sandbox', 'landlock', 'landrun'])
      for (const asked of ['sandbox', 'landlock', 'landrun']) expect(namesBackend(['local', listed], asked)).toBe(true);
    expect(namesBackend(['sandbox'], 'bwrap')).toBe(false);
  });
});
