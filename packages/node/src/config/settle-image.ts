// Which image a project may have, by the operator's one list for all backends.
import { OrreryError } from '@orrery/protocol/errors';
import type { NodeConfig } from './node-schema.ts';
import type { ProjectConfig } from './project-schema.ts';
import { widening } from './widening.ts';

/** What of the base commit says which image it is: a Dockerfile with its context, or a devcontainer.json. */
export type ImageAsked =
  | {
      readonly dockerfile: string;
      readonly context: string;
      readonly target: string | null;
      readonly args: Readonly<Record<string, string>>;
    }
  | { readonly devcontainer: string };

/** What the operator says of images, now. */
export type ImageRules = Pick<NodeConfig['execution'], 'allowedImages' | 'allowBuild' | 'buildNetwork'>;

type Asked = { readonly project: ProjectConfig; readonly node: NodeConfig };

/** The project's image, else none: the backend's own. The operator names the images that projects may choose. */
export const settleImage = ({ project, node }: Asked): { readonly image: string | null; readonly imageFrom?: ImageAsked } => {
  const { image, build, devcontainer = false } = project;
  const asked = [image !== undefined && 'image', build !== undefined && 'build', devcontainer !== false && 'devcontainer'].filter(
    (one) => one !== false,
  );
  if (asked.length > 1)
    throw new OrreryError('config_invalid', `The project file has ${asked.join(' and ')}.`, {
      rule: 'One of them says which image it is.',
    });
  if (devcontainer !== false)
    return { image: null, imageFrom: { devcontainer: devcontainer === true ? '.devcontainer/devcontainer.json' : devcontainer } };
  if (build !== undefined) {
    checkBuild(node.execution, 'The project file');
    return { image: null, imageFrom: { ...build, target: build.target ?? null } };
  }
  if (image !== undefined) checkImage(node.execution, image, { who: 'The project file', key: 'image' });
  return { image: image ?? null };
};

/** Throws `widening_refused` where the operator lets nothing be built. */
export const checkBuild = ({ allowBuild }: Pick<ImageRules, 'allowBuild'>, who: string): void => {
  if (allowBuild) return;
  throw widening('build', `${who} asks for an image that is built.`, {
    rule: 'The operator lets no images be built (execution.allowBuild): a build runs programs of the repository as root in containers of the engine.',
    fix: 'Set execution.allowBuild in the configuration of the node, and its base images in execution.allowedImages: orrery config path',
  });
};

/** Throws `widening_refused` for an image that the operator did not name. */
export const checkImage = (
  { allowedImages }: Pick<ImageRules, 'allowedImages'>,
  image: string,
  { who, key }: { readonly who: string; readonly key: string },
): void => {
  if (allowedImages.some((pattern) => imageFits(pattern, image))) return;
  throw widening(key, `${who} asks for the image "${image}".`, {
    rule:
      allowedImages.length === 0
        ? 'The operator allows no images (execution.allowedImages).'
        : `The operator allows ${allowedImages.join(', ')} (execution.allowedImages).`,
    fix: `Add "${image}" to execution.allowedImages in the configuration of the node: orrery config path`,
  });
};

/** A pattern is the whole name, or its beginning and a star: `ghcr.io/us/*`. */
const imageFits = (pattern: string, image: string): boolean =>
  pattern.endsWith('*') ? image.startsWith(pattern.slice(0, -1)) : image === pattern;
