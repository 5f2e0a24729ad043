// Which image a pod is made from.
import { OrreryError } from '@orrery/protocol/errors';
import type { KubernetesOptions } from './options.ts';

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._\-/:@]{0,511}$/;

/**
 * The image of an environment: the repository's comes before the operator's. One that the repository asks for and may not
 * have is refused, never replaced.
 */
export const imageOf = (options: KubernetesOptions, asked: string | null): string => {
  if (asked !== null) {
    if (REFERENCE.test(asked) && options.allowedImagePrefixes.some((prefix) => asked.startsWith(prefix))) return asked;
    throw new OrreryError('backend_forbidden', `The image ${JSON.stringify(asked.slice(0, 100))} is not allowed on this node.`, {
      rule:
        options.allowedImagePrefixes.length === 0
          ? 'The operator allows repositories no image of their own.'
          : `Allowed are images that begin with ${options.allowedImagePrefixes.join(', ')}.`,
      fix: 'Take execution.image out of the project, or have the operator add its prefix to execution.options.kubernetes.allowedImagePrefixes.',
    });
  }
  if (options.image !== null) return options.image;
  throw new OrreryError('backend_unavailable', 'No image is named for pods.', {
    rule: 'A pod is made from an image with sh in it.',
    fix: 'Set execution.options.kubernetes.image in the configuration.',
  });
};
