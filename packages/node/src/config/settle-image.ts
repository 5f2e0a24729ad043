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
  | {
      readonly devcontainer: string;
      /** The image in place of its own, where somebody with more say names one. Absent: its own. */
      readonly image?: string;
    };

/** What the operator says of images, now. */
export type ImageRules = Pick<NodeConfig['execution'], 'allowedImages' | 'allowBuild' | 'buildNetwork'>;

type Asked = {
  readonly request: { readonly image?: string | undefined };
  readonly project: ProjectConfig;
  readonly node: NodeConfig;
  readonly pin: string | null;
};

/** The image that the operator pinned for a project, by its name or id; null: none. */
export const pinOf = (
  { execution: { projectImages } }: Pick<NodeConfig, 'execution'>,
  project: { readonly id: string; readonly name: string } | null,
): string | null => {
  const named = [project?.id, project?.name].find((key) => key !== undefined && Object.hasOwn(projectImages, key));
  return named === undefined ? null : (projectImages[named] ?? null);
};

/**
 * The image that the operator pinned for the project, else the request's, else what the project's file says, else none: the
 * backend's own. A request for another one than the pinned is refused, and so is an image that the operator does not allow.
 */
export const settleImage = ({
  request,
  project,
  node,
  pin,
}: Asked): { readonly image: string | null; readonly imageFrom?: ImageAsked } => {
  const asked = request.image ?? null;
  if (pin !== null && asked !== null && asked !== pin) throw pinned(asked, pin);
  if (pin === null && asked !== null) checkImage(node.execution, asked, { who: 'The request', key: 'image' });
  const chosen = pin ?? asked;
  return chosen === null ? imageOfProject(project, node) : withChosen(chosen, project);
};

const pinned = (asked: string, pin: string): Error =>
  widening('image', `The request asks for the image "${asked}".`, {
    rule: `The operator pinned "${pin}" for this project (execution.projectImages).`,
    fix: 'Leave --image away, or change execution.projectImages in the configuration of the node: orrery config path',
  });

const devcontainerOf = ({ devcontainer = false }: ProjectConfig): string | null =>
  devcontainer === true ? '.devcontainer/devcontainer.json' : devcontainer === false ? null : devcontainer;

/** Of a devcontainer.json the variables, the user and the set-up still count. */
const withChosen = (image: string, project: ProjectConfig): { readonly image: string; readonly imageFrom?: ImageAsked } => {
  const devcontainer = devcontainerOf(project);
  return devcontainer === null ? { image } : { image, imageFrom: { devcontainer, image } };
};

const imageOfProject = (project: ProjectConfig, node: NodeConfig) => {
  const { image, build, devcontainer = false } = project;
  const asked = [image !== undefined && 'image', build !== undefined && 'build', devcontainer !== false && 'devcontainer'].filter(
    (one) => one !== false,
  );
  if (asked.length > 1)
    throw new OrreryError('config_invalid', `The project file has ${asked.join(' and ')}.`, {
      rule: 'One of them says which image it is.',
    });
  const file = devcontainerOf(project);
  if (file !== null) return { image: null, imageFrom: { devcontainer: file } };
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
