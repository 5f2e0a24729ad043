// The calls to the cluster that the backend makes, with their failures told apart.
import { ApiException, AuthorizationV1Api, CoreV1Api, KubeConfig, NetworkingV1Api, StorageV1Api } from '@kubernetes/client-node';
import type { CoreV1Event, V1NetworkPolicy, V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { PlaceProcess } from '../remote/place.ts';
import { unreachable } from '../remote/command.ts';
import { CONTAINER } from './manifest.ts';
import type { KubernetesOptions } from './options.ts';
import { openCommand } from './wire.ts';
import type { Readable } from 'node:stream';

/** A command as it is sent. */
export type PodCommand = {
  readonly pod: string;
  readonly argv: readonly string[];
  readonly stdin?: Uint8Array | Readable | 'open';
  readonly timeoutMs: number | null;
};

/** What became of a pod that was asked for. */
type Made = { readonly answer: 'made' } | { readonly answer: 'exists' } | { readonly answer: 'full'; readonly why: string };

/** The cluster. What it does not have is null; `backend_unreachable` when nobody can tell. */
export type Cluster = {
  /** Verbs that this node lacks in the namespace, such as `create pods/exec`. */
  lacking(withClaims: boolean): Promise<readonly string[]>;
  /** `made`, `exists`, or `full` with the words of the quota. */
  createPod(pod: V1Pod): Promise<Made>;
  readPod(name: string): Promise<V1Pod | null>;
  listPods(selector: string): Promise<readonly V1Pod[]>;
  eventsOf(name: string): Promise<readonly CoreV1Event[]>;
  /** The claim as the cluster has it now, or `full` with the words of the quota. */
  createClaim(claim: V1PersistentVolumeClaim): Promise<V1PersistentVolumeClaim | { readonly full: string }>;
  readClaim(name: string): Promise<V1PersistentVolumeClaim | null>;
  listClaims(selector: string): Promise<readonly V1PersistentVolumeClaim[]>;
  /** Changes a claim that nobody changed since it was read; null when somebody did. */
  replaceClaim(claim: V1PersistentVolumeClaim): Promise<V1PersistentVolumeClaim | null>;
  /** One that is not there, or is another one by now, is fine. */
  deleteClaim(claim: V1PersistentVolumeClaim): Promise<void>;
  /** Why claims of a class (null: the default one) would never be bound; null when nothing speaks against it or nobody may look. */
  classTrouble(storageClass: string | null): Promise<string | null>;
  /** Asks it to end; `unstarted`: nothing of it ever ran, so it goes at once. One that is not there is fine. */
  deletePod(name: string, which: { readonly uid: string } | 'unstarted'): Promise<void>;
  keepPolicy(policy: V1NetworkPolicy): Promise<void>;
  exec(command: PodCommand): Promise<PlaceProcess & { readonly protocol: string }>;
};

const NEEDED: readonly (readonly [verb: string, resource: string, subresource?: string])[] = [
  ['create', 'pods'],
  ['get', 'pods'],
  ['list', 'pods'],
  ['delete', 'pods'],
  ['create', 'pods', 'exec'],
  ['list', 'events'],
];

const NEEDED_FOR_CLAIMS: typeof NEEDED = ['create', 'get', 'list', 'update', 'delete'].map((verb) => [
  verb,
  'persistentvolumeclaims',
]);

const codeOf = (thrown: unknown): number | null => (thrown instanceof ApiException ? thrown.code : null);

const messageOf = (thrown: unknown): string => {
  if (!(thrown instanceof ApiException)) return thrown instanceof Error ? thrown.message : String(thrown);
  const { body } = thrown as { readonly body: unknown };
  try {
    const said = typeof body === 'string' ? (JSON.parse(body) as { message?: string }) : (body as { message?: string });
    return said.message ?? `answer ${thrown.code}`;
  } catch {
    return `answer ${thrown.code}`;
  }
};

/** A refusal of the cluster is its answer; anything without one means that nobody knows. */
const translate = (what: string, thrown: unknown): unknown => {
  const code = codeOf(thrown);
  if (code === null || code >= 500 || code === 429) return unreachable(`${what}: ${messageOf(thrown)}`, thrown);
  return new OrreryError('backend_unavailable', `The cluster refused: ${what}: ${messageOf(thrown)}`, {
    rule: 'The node acts in the cluster with the rights of its kubeconfig.',
    fix: 'orrery backend check kubernetes',
    cause: thrown,
  });
};

const asking = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof OrreryError ? thrown : translate(what, thrown);
  }
};

const orMissing = async <T>(what: string, work: () => Promise<T>): Promise<T | null> =>
  asking(what, async () => {
    try {
      return await work();
    } catch (thrown) {
      if (codeOf(thrown) === 404) return null;
      throw thrown;
    }
  });

const loadConfig = (options: KubernetesOptions): KubeConfig => {
  const config = new KubeConfig();
  try {
    if (options.kubeconfig === null) config.loadFromDefault();
    else config.loadFromFile(options.kubeconfig);
    if (options.context !== null) config.setCurrentContext(options.context);
  } catch (thrown) {
    throw noCluster(thrown);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null || (options.kubeconfig === null && isInvented(cluster))) throw noCluster(undefined);
  return config;
};

/** Where no kubeconfig is found, the library takes a server of this machine that nobody named. */
const isInvented = ({ name, server }: { readonly name: string; readonly server: string }): boolean =>
  name === 'cluster' && server === 'http://localhost:8080';

const noCluster = (cause: unknown): OrreryError =>
  new OrreryError('backend_unavailable', 'No cluster is configured.', {
    rule: 'The backend kubernetes uses a kubeconfig.',
    fix: 'Set KUBECONFIG, or execution.options.kubernetes.kubeconfig and context.',
    cause,
  });

const isQuota = (thrown: unknown): boolean => codeOf(thrown) === 403 && /exceeded quota/.test(messageOf(thrown));

const createPod =
  (core: CoreV1Api, namespace: string): Cluster['createPod'] =>
  (pod) =>
    asking('create a pod', async (): Promise<Made> => {
      try {
        await core.createNamespacedPod({ namespace, body: pod });
        return { answer: 'made' };
      } catch (thrown) {
        if (codeOf(thrown) === 409) return { answer: 'exists' };
        if (isQuota(thrown)) return { answer: 'full', why: messageOf(thrown) };
        throw thrown;
      }
    });

const execIn =
  (config: KubeConfig, namespace: string): Cluster['exec'] =>
  async ({ pod, argv, stdin, timeoutMs }) => {
    const server = config.getCurrentCluster()?.server ?? '';
    const query = new URLSearchParams({
      container: CONTAINER,
      stdin: String(stdin !== undefined),
      stdout: 'true',
      stderr: 'true',
      tty: 'false',
    });
    for (const word of argv) query.append('command', word);
    const url = `${server.replace(/^http/, 'ws')}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query.toString()}`;
    const options = {};
    await config.applyToHTTPSOptions(options);
    try {
      return await openCommand({ url, options }, { ...(stdin === undefined ? {} : { stdin }), timeoutMs });
    } catch (thrown) {
      throw unreachable(`no command in pod ${pod}`, thrown);
    }
  };

const lacking = async (
  authorization: AuthorizationV1Api,
  { namespace, needed }: { readonly namespace: string; readonly needed: typeof NEEDED },
): Promise<string[]> => {
  const answers = await Promise.all(
    needed.map(async ([verb, resource, subresource]) => {
      const resourceAttributes = { namespace, verb, resource, ...(subresource === undefined ? {} : { subresource }) };
      const { status } = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
      return status?.allowed === true ? null : `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
    }),
  );
  return answers.filter((one) => one !== null);
};

const claimsOf = (
  core: CoreV1Api,
  namespace: string,
): Pick<Cluster, 'createClaim' | 'readClaim' | 'listClaims' | 'replaceClaim' | 'deleteClaim'> => ({
  createClaim: (body) =>
    asking('create a claim', async () => {
      try {
        return await core.createNamespacedPersistentVolumeClaim({ namespace, body });
      } catch (thrown) {
        if (isQuota(thrown)) return { full: messageOf(thrown) };
        throw thrown;
      }
    }),
  readClaim: (name) => orMissing('read a claim', () => core.readNamespacedPersistentVolumeClaim({ name, namespace })),
  listClaims: async (labelSelector) =>
    (await asking('list claims', () => core.listNamespacedPersistentVolumeClaim({ namespace, labelSelector }))).items,
  replaceClaim: (body) =>
    asking('change a claim', async () => {
      try {
        return await core.replaceNamespacedPersistentVolumeClaim({ name: body.metadata?.name ?? '', namespace, body });
      } catch (thrown) {
        if (codeOf(thrown) === 409 || codeOf(thrown) === 404) return null;
        throw thrown;
      }
    }),
  deleteClaim: (claim) =>
    asking('delete a claim', async () => {
      const { name = '', uid = '' } = claim.metadata ?? {};
      try {
        await core.deleteNamespacedPersistentVolumeClaim({ name, namespace, body: { preconditions: { uid } } });
      } catch (thrown) {
        if (codeOf(thrown) !== 409 && codeOf(thrown) !== 404) throw thrown;
      }
    }),
});

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

const classTrouble = (config: KubeConfig, storageClass: string | null): Promise<string | null> =>
  asking('look at the storage classes', async () => {
    try {
      const { items: classes } = await config.makeApiClient(StorageV1Api).listStorageClass();
      const names = classes.map(({ metadata }) => metadata?.name ?? '');
      const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
      if (storageClass === null)
        return classes.some(({ metadata }) => metadata?.annotations?.[DEFAULT_CLASS] === 'true')
          ? null
          : `The cluster has no default storage class: ${known}.`;
      if (names.includes(storageClass)) return null;
      // Volumes that somebody made by hand may name a class that is nothing but a name.
      const { items: volumes } = await config.makeApiClient(CoreV1Api).listPersistentVolume();
      if (volumes.some(({ spec }) => spec?.storageClassName === storageClass)) return null;
      return `The cluster has no storage class ${storageClass}: ${known}.`;
    } catch (thrown) {
      if (codeOf(thrown) === 403) return null;
      throw thrown;
    }
  });

/** The cluster that the options name. Reads the kubeconfig now; connects when it is asked something. */
export const openCluster = (options: KubernetesOptions): Cluster => {
  const config = loadConfig(options);
  const core = config.makeApiClient(CoreV1Api);
  const { namespace } = options;
  return {
    lacking: (withClaims) => {
      const needed = withClaims ? [...NEEDED, ...NEEDED_FOR_CLAIMS] : NEEDED;
      return asking('ask what is allowed', () => lacking(config.makeApiClient(AuthorizationV1Api), { namespace, needed }));
    },
    ...claimsOf(core, namespace),
    classTrouble: (storageClass) => classTrouble(config, storageClass),
    createPod: createPod(core, namespace),
    readPod: (name) => orMissing('read a pod', () => core.readNamespacedPod({ name, namespace })),
    listPods: async (labelSelector) =>
      (await asking('list pods', () => core.listNamespacedPod({ namespace, labelSelector }))).items,
    eventsOf: async (name) =>
      (
        await asking('list events', () =>
          core.listNamespacedEvent({ namespace, fieldSelector: `involvedObject.name=${name}`, limit: 50 }),
        )
      ).items,
    deletePod: async (name, which) => {
      const body =
        which === 'unstarted' ? { gracePeriodSeconds: 0 } : { gracePeriodSeconds: 1, preconditions: { uid: which.uid } };
      await orMissing('delete a pod', () => core.deleteNamespacedPod({ name, namespace, body }));
    },
    keepPolicy: async (body) => {
      const networking = config.makeApiClient(NetworkingV1Api);
      const found = await orMissing('read a network policy', () =>
        networking.readNamespacedNetworkPolicy({ name: body.metadata?.name ?? '', namespace }),
      );
      if (found === null)
        await asking('create a network policy', () => networking.createNamespacedNetworkPolicy({ namespace, body }));
    },
    exec: execIn(config, namespace),
  };
};
