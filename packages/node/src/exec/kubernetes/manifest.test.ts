import { describe, expect, it } from 'vitest';
import type { PlaceSpec } from '../remote/place.ts';
import { environmentSelector, instanceOf, networkPolicyManifest, podManifest, podName } from './manifest.ts';
import { kubernetesOptions } from './options.ts';

const spec: PlaceSpec = {
  environmentId: 'env_01',
  taskId: 'tsk_01',
  installation: 'inst_1',
  image: null,
  keeps: false,
  project: null,
  limits: {},
  mountable: [],
};
const options = (given: Record<string, unknown> = {}) => kubernetesOptions.parse(given);

describe('the pod of an environment', () => {
  it('runs as a user, with no token, no capability, no service variable, and one volume of its own', () => {
    expect(podManifest(spec, { options: options(), instance: 'node-a', image: 'agent:1', claim: null })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: podName('node-a', 'env_01'),
        namespace: 'default',
        labels: {
          'app.kubernetes.io/managed-by': 'orrery',
          'orrery.dev/instance': 'node-a',
          'orrery.dev/environment': expect.stringMatching(/^[0-9a-f]{20}$/) as string,
        },
        annotations: { 'orrery.dev/environment-id': 'env_01', 'orrery.dev/task-id': 'tsk_01' },
      },
      spec: {
        restartPolicy: 'Never',
        activeDeadlineSeconds: 14_400,
        terminationGracePeriodSeconds: 5,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, runAsNonRoot: true },
        containers: [
          {
            name: 'agent',
            image: 'agent:1',
            command: ['sh', '-c', expect.any(String) as string],
            workingDir: '/orrery',
            securityContext: {
              allowPrivilegeEscalation: false,
              privileged: false,
              runAsNonRoot: true,
              capabilities: { drop: ['ALL'] },
            },
            volumeMounts: [{ name: 'orrery', mountPath: '/orrery' }],
          },
        ],
        volumes: [{ name: 'orrery', emptyDir: {} }],
      },
    });
  });

  it('has the very image that was named, pinned by digest or not, and is fetched as the operator says or as the cluster does', () => {
    const pinned = `registry.example/agent:1@sha256:${'a'.repeat(64)}`;
    const containerFor = (given: Record<string, unknown>, image: string) =>
      podManifest(spec, { options: options(given), instance: 'a', image, claim: null }).spec?.containers[0];
    expect([
      containerFor({}, pinned)?.image,
      containerFor({}, pinned)?.imagePullPolicy,
      containerFor({ imagePullPolicy: 'Never' }, pinned)?.imagePullPolicy,
      containerFor({ imagePullPolicy: 'Always' }, 'agent:1')?.imagePullPolicy,
      options({ image: pinned }).image,
    ]).toEqual([pinned, undefined, 'Never', 'Always', pinned]);
  });

  it('has its files on a volume where it has a claim', () => {
    const pod = podManifest(spec, { options: options({ disk: '1Gi' }), instance: 'a', image: 'a', claim: 'orrery-x' });
    expect(pod.spec?.volumes).toEqual([{ name: 'orrery', persistentVolumeClaim: { claimName: 'orrery-x' } }]);
  });

  it('takes the limits of the task before those of the options', () => {
    const given = options({ cpu: '500m', memory: '1Gi', disk: '10Gi' });
    const limitsOf = (limits: PlaceSpec['limits']) =>
      podManifest({ ...spec, limits }, { options: given, instance: 'a', image: 'agent:1', claim: null }).spec?.containers[0]
        ?.resources;
    expect([limitsOf({}), limitsOf({ memoryBytes: 1_000, diskBytes: 2_000 })]).toEqual([
      { limits: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '10Gi' } },
      { limits: { cpu: '500m', memory: '1000', 'ephemeral-storage': '2000' } },
    ]);
  });

  it('carries what the operator wants of every pod', () => {
    const given = options({
      namespace: 'agents',
      serviceAccount: 'runner',
      imagePullSecrets: ['pull'],
      imagePullPolicy: 'Never',
      nodeSelector: { pool: 'agents' },
      runtimeClass: 'kata',
      user: 2000,
      group: 2001,
    });
    const pod = podManifest(spec, { options: given, instance: 'a', image: 'agent:1', claim: null });
    expect({ ...pod.spec, containers: pod.spec?.containers.map(({ imagePullPolicy }) => imagePullPolicy) }).toMatchObject({
      serviceAccountName: 'runner',
      imagePullSecrets: [{ name: 'pull' }],
      nodeSelector: { pool: 'agents' },
      runtimeClassName: 'kata',
      securityContext: { runAsUser: 2000, runAsGroup: 2001, fsGroup: 2001 },
      containers: ['Never'],
    });
    expect(pod.metadata?.namespace).toBe('agents');
  });
});

describe('names and labels', () => {
  it('are the same for the same environment, differ for another node, and fit the rules of labels', () => {
    const long = 'e'.repeat(128);
    expect(podName('a', 'env_01')).toBe(podName('a', 'env_01'));
    expect(podName('a', 'env_01')).not.toBe(podName('b', 'env_01'));
    expect(podName('a', long)).toMatch(/^orrery-[0-9a-f]{20}$/);
    expect(
      environmentSelector('a', long)
        .split(',')
        .map((one) => one.split('=')[1]?.length),
    ).toEqual([6, 1, 20]);
  });

  it("say whose they are by the operator's word, else by the installation", () => {
    expect(instanceOf(options({ instance: 'blue' }), 'inst_1')).toBe('blue');
    expect(instanceOf(options(), 'inst_1')).not.toBe(instanceOf(options(), 'inst_2'));
  });
});

it('a network policy denies the pods of this node everything, and no others', () => {
  expect(networkPolicyManifest(options(), 'node-a').spec).toEqual({
    podSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'orrery', 'orrery.dev/instance': 'node-a' } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [],
  });
});
