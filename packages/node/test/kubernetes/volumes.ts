// Volumes for tests: the cluster of the tests makes none by itself, so each is made by hand as a folder of its one machine.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, StorageV1Api } from '@kubernetes/client-node';
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { instanceSelector } from '../../src/exec/kubernetes/manifest.ts';
import { testKubeconfig } from './cluster.ts';
import { freshInstance } from './provider.ts';

/** Some volumes, and the storage class that they alone are of. */
export type TestVolumes = {
  readonly storageClass: string;
  /** The options of the backend that use them. */
  readonly options: { readonly workspace: 'volume'; readonly volume: { readonly storageClass: string; readonly size: string } };
  /** Folders of the volumes, as this machine sees them. */
  readonly folders: readonly string[];
  /** Claims of an instance that are not being deleted. */
  claims(instance: string): Promise<V1PersistentVolumeClaim[]>;
  remove(): Promise<void>;
};

const client = (): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig());
  return config;
};

const volumeOf = (given: {
  readonly name: string;
  readonly storageClass: string;
  readonly path: string;
}): V1PersistentVolume => ({
  metadata: { name: given.name },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: given.storageClass,
    hostPath: { path: given.path },
  },
});

/** Makes `count` volumes of a class of their own. */
export const makeVolumes = async (count: number): Promise<TestVolumes> => {
  const storageClass = freshInstance();
  const config = client();
  const [core, storage] = [config.makeApiClient(CoreV1Api), config.makeApiClient(StorageV1Api)];
  const root = mkdtempSync(join(tmpdir(), 'orrery-volumes-'));
  chmodSync(root, 0o755);
  const names = Array.from({ length: count }, (_, index) => `${storageClass}-${index + 1}`);
  await storage.createStorageClass({
    body: {
      metadata: { name: storageClass },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'Immediate',
    },
  });
  const folders = names.map((name) => join(root, name));
  for (const [index, path] of folders.entries()) {
    mkdirSync(path);
    chmodSync(path, 0o777);
    await core.createPersistentVolume({ body: volumeOf({ name: names[index] ?? '', storageClass, path }) });
  }
  return {
    storageClass,
    options: { workspace: 'volume', volume: { storageClass, size: '1Gi' } },
    folders,
    claims: async (instance) => {
      const labelSelector = instanceSelector(instance);
      const { items } = await core.listNamespacedPersistentVolumeClaim({ namespace: 'default', labelSelector });
      return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    },
    remove: async () => {
      for (const name of names) await core.deletePersistentVolume({ name });
      await storage.deleteStorageClass({ name: storageClass });
      rmSync(root, { recursive: true, force: true });
    },
  };
};
