// What is created in the cluster: pure functions of what is asked.
import { createHash } from 'node:crypto';
import type { V1NetworkPolicy, V1Pod, V1Volume } from '@kubernetes/client-node';
import type { PlaceSpec } from '../remote/place.ts';
import type { KubernetesOptions } from './options.ts';

/** The one container of a pod. */
export const CONTAINER = 'agent';
/** Where everything of an environment lies in its pod. */
export const ROOT = '/orrery/env';
/** Where the volume of a pod is. */
export const VOLUME = '/orrery';

/** Labels that find what is ours. */
export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  instance: 'orrery.dev/instance',
  environment: 'orrery.dev/environment',
  project: 'orrery.dev/project',
} as const;

/** The environment's id as it is; its label is a digest, since labels are shorter than ids may be. */
export const ENVIRONMENT_ANNOTATION = 'orrery.dev/environment-id';
export const TASK_ANNOTATION = 'orrery.dev/task-id';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

/** Whose pods these are: the operator's name for this node, else its installation. */
export const instanceOf = (options: KubernetesOptions, installation: string): string => options.instance ?? digest(installation);

/** The label value of an environment. */
export const environmentLabel = (environmentId: string): string => digest(environmentId);

/** The name of the pod of an environment: the same for the same one, so that it is never made twice. */
export const podName = (instance: string, environmentId: string): string => `orrery-${digest(`${instance} ${environmentId}`)}`;

/** Everything of this node. */
export const instanceSelector = (instance: string): string => `${LABELS.managedBy}=orrery,${LABELS.instance}=${instance}`;

/** The label value of a project. */
export const projectLabel = (project: string): string => digest(project);

/** Everything of one environment of this node. */
export const environmentSelector = (instance: string, environmentId: string): string =>
  `${instanceSelector(instance)},${LABELS.environment}=${environmentLabel(environmentId)}`;

// The first process collects children that lost their parent: keepers outlive the commands that started them.
const IDLE = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';

const limitsOf = ({ limits }: Pick<PlaceSpec, 'limits'>, options: KubernetesOptions): Record<string, string> => {
  const memory = limits.memoryBytes === undefined ? options.memory : String(limits.memoryBytes);
  const disk = limits.diskBytes === undefined ? options.disk : String(limits.diskBytes);
  return {
    ...(options.cpu === null ? {} : { cpu: options.cpu }),
    ...(memory === null ? {} : { memory }),
    ...(disk === null ? {} : { 'ephemeral-storage': disk }),
  };
};

const volumeOf = (claim: string | null, options: KubernetesOptions): V1Volume => {
  if (claim !== null) return { name: 'orrery', persistentVolumeClaim: { claimName: claim } };
  return { name: 'orrery', emptyDir: options.disk === null ? {} : { sizeLimit: options.disk } };
};

const containerOf = (
  spec: Pick<PlaceSpec, 'limits'>,
  options: KubernetesOptions,
  image: string,
): NonNullable<V1Pod['spec']>['containers'][number] => {
  const limits = limitsOf(spec, options);
  return {
    name: CONTAINER,
    image,
    ...(options.imagePullPolicy === null ? {} : { imagePullPolicy: options.imagePullPolicy }),
    command: ['sh', '-c', IDLE],
    workingDir: VOLUME,
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    ...(Object.keys(limits).length === 0 ? {} : { resources: { limits } }),
    volumeMounts: [{ name: 'orrery', mountPath: VOLUME }],
  };
};

/** Of what a pod is made beside what is asked. */
export type PodMaterial = {
  readonly options: KubernetesOptions;
  readonly instance: string;
  readonly image: string;
  /** Claim of the volume that its files are on; null: they go with it. */
  readonly claim: string | null;
};

/** Whether the memory of such a pod is bounded. */
export const boundsMemory = (spec: Pick<PlaceSpec, 'limits'>, options: KubernetesOptions): boolean =>
  spec.limits.memoryBytes !== undefined || options.memory !== null;

/** The pod of an environment. Holds no secret, no token and nothing of the task but its id. */
export const podManifest = (
  spec: Pick<PlaceSpec, 'environmentId' | 'taskId' | 'limits'>,
  { options, instance, image, claim }: PodMaterial,
): V1Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: podName(instance, spec.environmentId),
    namespace: options.namespace,
    labels: {
      [LABELS.managedBy]: 'orrery',
      [LABELS.instance]: instance,
      [LABELS.environment]: environmentLabel(spec.environmentId),
    },
    annotations: { [ENVIRONMENT_ANNOTATION]: spec.environmentId, [TASK_ANNOTATION]: spec.taskId },
  },
  spec: {
    restartPolicy: 'Never',
    activeDeadlineSeconds: options.deadlineSeconds,
    terminationGracePeriodSeconds: 5,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(options.serviceAccount === null ? {} : { serviceAccountName: options.serviceAccount }),
    ...(options.runtimeClass === null ? {} : { runtimeClassName: options.runtimeClass }),
    ...(Object.keys(options.nodeSelector).length === 0 ? {} : { nodeSelector: options.nodeSelector }),
    ...(options.imagePullSecrets.length === 0
      ? {}
      : { imagePullSecrets: options.imagePullSecrets.map((one) => ({ name: one })) }),
    securityContext: { runAsUser: options.user, runAsGroup: options.group, fsGroup: options.group, runAsNonRoot: true },
    containers: [containerOf(spec, options, image)],
    volumes: [volumeOf(claim, options)],
  },
});

/** Denies the pods of this node every connection in and out. Clusters without a policy engine ignore it. */
export const networkPolicyManifest = (options: KubernetesOptions, instance: string): V1NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: {
    name: `orrery-${digest(instance)}`,
    namespace: options.namespace,
    labels: { [LABELS.managedBy]: 'orrery', [LABELS.instance]: instance },
  },
  spec: {
    podSelector: { matchLabels: { [LABELS.managedBy]: 'orrery', [LABELS.instance]: instance } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [],
  },
});
