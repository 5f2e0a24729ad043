import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveSmallImage } from '@orrery/testkit';
import { CLUSTER_VARIABLE, TEST_IMAGE, startCluster, stopCluster } from './cluster.ts';

/**
 * One cluster for all files. It has a fixed folder: the cluster's ports are fixed too, and what an aborted run left is found
 * there again. `ORRERY_TEST_CLUSTER=DIR` uses the one of that folder and leaves it running.
 */
export const setup = (): (() => void) => {
  const kept = process.env['ORRERY_TEST_CLUSTER'];
  const directory = kept ?? join(tmpdir(), `orrery-test-cluster-${process.getuid?.() ?? 0}`);
  const archive = join(tmpdir(), `orrery-test-image-${process.pid}.tar`);
  try {
    saveSmallImage(archive, TEST_IMAGE);
    process.env[CLUSTER_VARIABLE] = startCluster(directory, [archive]);
  } finally {
    rmSync(archive, { force: true });
  }
  return () => {
    if (kept !== undefined) return;
    stopCluster(directory);
    rmSync(directory, { recursive: true, force: true });
  };
};
