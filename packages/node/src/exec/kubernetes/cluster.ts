// The calls to the cluster that the backend makes, with their failures told apart.
import { ApiException, AuthorizationV1Api, CoreV1Api, KubeConfig, NetworkingV1Api } from '@kubernetes/client-node';
import type { CoreV1Event, V1NetworkPolicy, V1Pod } from '@kubernetes/client-node';
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
  lacking(): Promise<readonly string[]>;
  /** `made`, `exists`, or `full` with the words of the quota. */
  createPod(pod: V1Pod): Promise<Made>;
  readPod(name: string): Promise<V1Pod | null>;
  listPods(selector: string): Promise<readonly V1Pod[]>;
  eventsOf(pod: string): Promise<readonly CoreV1Event[]>;
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

const createPod =
  (core: CoreV1Api, namespace: string): Cluster['createPod'] =>
  (pod) =>
    asking('create a pod', async (): Promise<Made> => {
      try {
        await core.createNamespacedPod({ namespace, body: pod });
        return { answer: 'made' };
      } catch (thrown) {
        if (codeOf(thrown) === 409) return { answer: 'exists' };
        if (codeOf(thrown) === 403 && /exceeded quota/.test(messageOf(thrown))) return { answer: 'full', why: messageOf(thrown) };
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

const lacking = async (authorization: AuthorizationV1Api, namespace: string): Promise<string[]> => {
  const answers = await Promise.all(
    NEEDED.map(async ([verb, resource, subresource]) => {
      const resourceAttributes = { namespace, verb, resource, ...(subresource === undefined ? {} : { subresource }) };
      const { status } = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
      return status?.allowed === true ? null : `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
    }),
  );
  return answers.filter((one) => one !== null);
};

/** The cluster that the options name. Reads the kubeconfig now; connects when it is asked something. */
export const openCluster = (options: KubernetesOptions): Cluster => {
  const config = loadConfig(options);
  const core = config.makeApiClient(CoreV1Api);
  const { namespace } = options;
  return {
    lacking: () => asking('ask what is allowed', () => lacking(config.makeApiClient(AuthorizationV1Api), namespace)),
    createPod: createPod(core, namespace),
    readPod: (name) => orMissing('read a pod', () => core.readNamespacedPod({ name, namespace })),
    listPods: async (labelSelector) =>
      (await asking('list pods', () => core.listNamespacedPod({ namespace, labelSelector }))).items,
    eventsOf: async (pod) =>
      (
        await asking('list events', () =>
          core.listNamespacedEvent({ namespace, fieldSelector: `involvedObject.name=${pod}`, limit: 50 }),
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
