// Which image an environment is made of, and that it is there.
import { OrreryError } from '@orrery/protocol/errors';
import type { Engine } from './engine.ts';
import { STANDARD_IMAGE } from './options.ts';
import type { DockerOptions } from './options.ts';
import type { EngineImage } from './wire.ts';

/** What images that were built here are called; their tag is what they were built of. */
export const BUILD_REPOSITORY = 'orrery-build';

/** Whether a name is of an image that was built here: no registry is ever asked for one. */
export const isBuiltName = (name: string): boolean => name.startsWith(`${BUILD_REPOSITORY}:`);

/** The name of the image: what the project asks for (the operator's list was asked before), else the operator's, else the standard one. */
export const chooseImage = (asked: string | null, { image }: Pick<DockerOptions, 'image'>): string =>
  asked ?? image ?? STANDARD_IMAGE;

const missing = (name: string): OrreryError =>
  new OrreryError('backend_unavailable', `The container engine has no image ${name}.`, {
    rule: 'Images are fetched from a registry only when execution.options.docker.pull says so.',
    fix: howToGet(name),
  });

const howToGet = (name: string): string => {
  if (isBuiltName(name)) return 'It was built and somebody removed it. Try again: it is built once more.';
  return name === STANDARD_IMAGE ? `Build it: docker build -f docker/Dockerfile -t ${name} .` : `Fetch it: docker pull ${name}`;
};

/** The image of that name, fetched first when the operator's rule says so. Throws `backend_unavailable` with how to get it. */
export const ensureImage = async (
  engine: Engine,
  { name, pull: asked }: { readonly name: string; readonly pull: DockerOptions['pull'] },
  progress: (line: string) => void,
): Promise<EngineImage> => {
  const present = await engine.findImage(name);
  const pull = isBuiltName(name) ? 'never' : asked;
  if (pull === 'always' || (pull === 'missing' && present === null)) {
    progress(`Fetching the image ${name}`);
    await engine.pull(name, progress);
  } else if (present !== null) return checkSystem(name, present);
  const found = await engine.findImage(name);
  if (found === null) throw missing(name);
  return checkSystem(name, found);
};

const checkSystem = (name: string, image: EngineImage): EngineImage => {
  if ((image.Os ?? 'linux') === 'linux') return image;
  throw new OrreryError('backend_unavailable', `The image ${name} is for ${image.Os}.`, { rule: 'Environments run Linux.' });
};
