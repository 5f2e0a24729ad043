import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openCluster } from './cluster.ts';
import { kubernetesOptions } from './options.ts';

/** In a pod, the cluster around it is the one that is meant. */
const inPod = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

describe.skipIf(inPod)('a machine without a kubeconfig', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('has no cluster, and nobody is asked at an address that nobody named', () => {
    vi.stubEnv('HOME', mkdtempSync(join(tmpdir(), 'orrery-no-cluster-')));
    vi.stubEnv('KUBECONFIG', '');
    expect(() => openCluster(kubernetesOptions.parse({}))).toThrow(
      expect.objectContaining({
        code: 'backend_unavailable',
        message: 'No cluster is configured.',
        fix: expect.stringContaining('KUBECONFIG'),
      }),
    );
  });
});
