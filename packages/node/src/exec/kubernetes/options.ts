// Options of the backend `kubernetes`: `execution.options.kubernetes`.
import { z } from 'zod';

const name = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'a name of the cluster: a–z 0–9 . -');
/** `registry/name:tag` or `name@sha256:…`; no space, no shell character. */
const image = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._\-/:@]{0,511}$/, 'an image reference of at most 512 characters');
const quantity = z.string().regex(/^[0-9]+(\.[0-9]+)?(m|[KMGTPE]i?|k)?$/, 'a quantity such as 500m, 2 or 4Gi');
const id = z.int().min(1).max(2_147_483_647);

/** The schema of the options; every key is described for `config schema`. */
export const kubernetesOptions = z.strictObject({
  kubeconfig: z.string().regex(/^\//, 'an absolute path').nullable().default(null).describe('Default: as kubectl finds it'),
  context: z.string().nullable().default(null).describe('Context of the kubeconfig; default: its current one'),
  namespace: name.default('default').describe('Namespace of the pods'),
  image: image.nullable().default(null).describe('Image of pods that nobody else names one for'),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).nullable().default(null).describe("Default: the cluster's"),
  imagePullSecrets: z.array(name).default([]).describe('Names of pull secrets in the namespace'),
  serviceAccount: name.nullable().default(null).describe('Its token is not mounted in any case'),
  nodeSelector: z.record(z.string(), z.string()).default({}).describe('Labels of nodes that pods may run on'),
  runtimeClass: name.nullable().default(null).describe('Runtime of the pods, for example kata'),
  user: id.default(1000).describe('User that programs run as; never root'),
  group: id.default(1000).describe('Group of that user'),
  cpu: quantity.nullable().default(null).describe('CPU limit of a pod'),
  memory: quantity.nullable().default(null).describe('Memory limit of a pod where the task has none'),
  disk: quantity.nullable().default(null).describe('Size of what a pod may write'),
  workspace: z
    .enum(['emptyDir', 'volume'])
    .default('emptyDir')
    .describe('Where the files of an environment are: in its pod, or on a volume that outlives the pod'),
  volume: z
    .strictObject({
      storageClass: name.nullable().default(null).describe("Class of the claims; default: the cluster's default"),
      size: quantity.default('20Gi').describe('Room that a claim asks for'),
      accessMode: z
        .enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'])
        .default('ReadWriteOnce')
        .describe('Of the claims'),
      reuse: z
        .enum(['environment', 'project'])
        .default('environment')
        .describe('`project`: a claim that was given back is emptied and used by the next environment of the same project'),
      keepDays: z.int().min(0).max(3650).default(14).describe('How long a claim that was given back is kept for its project'),
      keepNumber: z.int().min(0).max(100).default(2).describe('How many of them at most, for each project'),
    })
    .prefault({})
    .describe('With `workspace: volume`'),
  deadlineSeconds: z.int().min(60).max(604_800).default(14_400).describe('The cluster ends a pod after this time'),
  startupTimeoutSeconds: z.int().min(5).max(3600).default(600).describe('How long a pod may take to be ready'),
  quotaWaitSeconds: z.int().min(0).max(3600).default(600).describe('How long to wait for room in the namespace'),
  networkPolicy: z
    .boolean()
    .default(false)
    .describe('Also make a NetworkPolicy that denies pods everything, for clusters that enforce it'),
  instance: z
    .string()
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/, 'a label value of at most 63 characters')
    .nullable()
    .default(null)
    .describe('Separates several nodes in one namespace; default: the installation of this node'),
});

/** Parsed options. */
export type KubernetesOptions = z.output<typeof kubernetesOptions>;
