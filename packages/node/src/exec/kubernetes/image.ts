// Which image a pod is made from.
import { OrreryError } from '@orrery/protocol/errors';
import type { KubernetesOptions } from './options.ts';

/**
 * The image of an environment: the project's comes before the operator's. Whether the project may have it was decided
 * before, by the list that all backends share (execution.allowedImages).
 */
export const imageOf = ({ image }: Pick<KubernetesOptions, 'image'>, asked: string | null): string => {
  const name = asked ?? image;
  if (name !== null) return name;
  throw new OrreryError('backend_unavailable', 'No image is named for pods.', {
    rule: 'A pod is made from an image with sh in it.',
    fix: 'Set execution.options.kubernetes.image in the configuration.',
  });
};
