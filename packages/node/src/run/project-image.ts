// The image that a project's base commit asks for: read there, checked by the operator's list, built where it has to be.
import { posix } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import { checkBuild, checkImage } from '../config/settle-image.ts';
import { readDevcontainer, type Devcontainer, type ImageSource } from '../exec/image/devcontainer.ts';
import { readDockerfile } from '../exec/image/dockerfile.ts';
import { createIgnore } from '../exec/image/dockerignore.ts';
import { CONTEXT_BYTES, CONTEXT_FILES, CONTEXT_FILE_BYTES } from '../exec/image/limits.ts';
import { isProjectVariable } from '../exec/run-environment.ts';
import type { TreeFile } from '../git/committed-tree.ts';
import { PROJECT_FILE_BYTES } from '../kernel/limits.ts';
import type { AttemptSettings, RunParts } from './doors.ts';

/** What it is asked with. */
export type ImageQuestion = {
  readonly parts: Pick<RunParts, 'projects' | 'imageRules' | 'backend'>;
  readonly projectId: string;
  readonly baseSha: string;
  readonly settings: AttemptSettings;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** What is done and what a build prints, line by line. */
  readonly progress: (line: string) => void;
};

type Build = Extract<ImageSource, { readonly dockerfile: string }>;

/** The settings with the image that the base commit asks for, built if it has to be. Asked again it answers the same, and builds only what is gone. */
export const settleProjectImage = async (question: ImageQuestion): Promise<AttemptSettings> => {
  const { settings } = question;
  const { imageFrom } = settings;
  if (imageFrom === undefined) return settings;
  if ('dockerfile' in imageFrom) return { ...settings, image: await buildImage(question, imageFrom, 'The project file') };
  const path = posix.normalize(imageFrom.devcontainer);
  const devcontainer = readDevcontainer(path, await textAt(question, path));
  const chosen = imageFrom.image ?? null;
  return { ...settings, ...(await settleDevcontainer(question, path, { ...devcontainer, chosen })) };
};

const settleDevcontainer = async (
  question: ImageQuestion,
  path: string,
  { source, variables, user, setup, unused, chosen }: Devcontainer & { readonly chosen: string | null },
): Promise<Partial<AttemptSettings>> => {
  const { parts, settings, progress } = question;
  const reserved = Object.keys(variables).find((name) => !isProjectVariable(name));
  if (reserved !== undefined)
    throw new OrreryError('config_invalid', `${path} sets ${reserved}.`, {
      rule: 'What the node means by a name stays what it is.',
      fix: `Take ${reserved} out of containerEnv.`,
    });
  if (user !== null) checkUser(parts.backend(settings.backend), path, user);
  if (unused.length > 0) progress(`${path}: ${unused.join(', ')} have no part in it.`);
  const image = chosen ?? (await imageOf(question, path, source));
  const own = settings.setup.slice(settings.setup.length - (settings.ownSetup ?? settings.setup.length));
  return { image, variables, ...(user === null ? {} : { user }), setup: [...setup, ...own], ownSetup: own.length };
};

const imageOf = async (question: ImageQuestion, path: string, source: ImageSource): Promise<string> => {
  if (!('image' in source)) return buildImage(question, source, path);
  checkImage(question.parts.imageRules(), source.image, { who: path, key: 'image' });
  return source.image;
};

const checkUser = (backend: ReturnType<RunParts['backend']>, path: string, user: string): void => {
  if (/^(root|0)(:|$)/.test(user))
    throw new OrreryError('widening_refused', `${path} wants programs to be root.`, {
      rule: 'Programs in a container are not root.',
      fix: 'Name another user of the image: remoteUser',
      details: { key: 'remoteUser' },
    });
  if (!/^[a-z_][a-z0-9_-]{0,31}$|^\d{1,9}(:\d{1,9})?$/.test(user))
    throw new OrreryError('config_invalid', `${path}: "${user.slice(0, 50)}" is no name of a user.`);
  if (backend.images === undefined)
    throw new OrreryError(
      'unsupported',
      `${path} asks for the user ${user}, and the backend ${backend.name} chooses users by itself.`,
      {
        fix: 'Take remoteUser and containerUser out of it, or ask for docker: orrery run --backend docker',
      },
    );
};

const missing = (path: string, baseSha: string): OrreryError =>
  new OrreryError('config_invalid', `The base commit ${baseSha.slice(0, 12)} has no file ${path}.`, {
    rule: 'What an image is made of comes from the base commit, never from a working directory; links are not followed.',
    fix: `Commit ${path}, or name another one in .orrery/orrery.yaml.`,
  });

const bytesOf = async (parts: ImageQuestion['parts'], projectId: string, file: TreeFile): Promise<Buffer> => {
  const found: Buffer[] = [];
  for await (const content of parts.projects.readFiles(projectId, [file])) found.push(content);
  return Buffer.concat(found);
};

/** The text of one plain file of the base commit. */
const textAt = async ({ parts, projectId, baseSha }: ImageQuestion, path: string): Promise<string> => {
  const folder = posix.dirname(path);
  const name = posix.basename(path);
  const { files } = await parts.projects.listTree(projectId, { commit: baseSha, folder });
  const file = files.find((one) => one.path === name && one.kind !== 'link');
  if (file === undefined) throw missing(path, baseSha);
  if (file.bytes > PROJECT_FILE_BYTES)
    throw tooLarge(`${path} is ${file.bytes} bytes large.`, `At most ${PROJECT_FILE_BYTES} bytes.`);
  return (await bytesOf(parts, projectId, file)).toString('utf8');
};

const tooLarge = (message: string, rule: string): OrreryError =>
  new OrreryError('input_too_large', message, { rule, fix: 'Leave files out by a .dockerignore in the context, and commit it.' });

/** A link of a context leads somewhere in it; engines follow them while they build. */
const checkLink = (path: string, target: string): void => {
  const reached = posix.normalize(posix.join(posix.dirname(path), target));
  if (!posix.isAbsolute(target) && reached !== '..' && !reached.startsWith('../')) return;
  throw new OrreryError('config_invalid', `The link ${path} leads out of the context of the build.`, {
    rule: 'Builds take files of the base commit alone.',
    fix: 'Leave it out by a .dockerignore in the context, and commit it.',
  });
};

/** The files of a context, checked and bounded. */
const contextOf = async (question: ImageQuestion, { context }: Build): Promise<readonly TreeFile[]> => {
  const { parts, projectId, baseSha, progress } = question;
  const { files: all, modules } = await parts.projects.listTree(projectId, { commit: baseSha, folder: context });
  const ignore = all.find(({ path, kind }) => path === '.dockerignore' && kind !== 'link');
  const leftOut = createIgnore(ignore === undefined ? '' : await textAt(question, posix.join(context, '.dockerignore')));
  const files = all.filter(({ path }) => !leftOut(path));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const large = files.find((file) => file.bytes > CONTEXT_FILE_BYTES);
  if (files.length > CONTEXT_FILES)
    throw tooLarge(`The context of the build has ${files.length} files.`, `At most ${CONTEXT_FILES}.`);
  if (bytes > CONTEXT_BYTES) throw tooLarge(`The context of the build is ${bytes} bytes large.`, `At most ${CONTEXT_BYTES}.`);
  if (large !== undefined)
    throw tooLarge(`${large.path} is ${large.bytes} bytes large.`, `Each file of a context at most ${CONTEXT_FILE_BYTES}.`);
  for (const link of files.filter(({ kind }) => kind === 'link'))
    checkLink(link.path, (await bytesOf(parts, projectId, link)).toString('utf8'));
  const absent = modules.filter((path) => !leftOut(path));
  if (absent.length > 0) progress(`Not part of the context, since they are repositories of their own: ${absent.join(', ')}.`);
  return files;
};

const buildImage = async (question: ImageQuestion, build: Build, who: string): Promise<string> => {
  const { parts, projectId, settings, signal, progress } = question;
  const rules = parts.imageRules();
  checkBuild(rules, who);
  const { images, name } = parts.backend(settings.backend);
  if (images === undefined)
    throw new OrreryError('unsupported', `${who} asks for an image that is built, and the backend ${name} builds none.`, {
      rule: 'Images are built by a container engine on this machine.',
      fix: 'Let the project name an image that is there already (image in .orrery/orrery.yaml), or ask for docker: orrery run --backend docker',
    });
  const dockerfile = await textAt(question, posix.normalize(build.dockerfile));
  for (const base of readDockerfile(dockerfile, build.args).bases)
    checkImage(rules, base, { who: `${build.dockerfile} of the project`, key: 'build' });
  const files = await contextOf(question, { ...build, context: posix.normalize(build.context).replace(/\/$/, '') });
  const contents = () => parts.projects.readFiles(projectId, files);
  return images.build(
    { dockerfile, target: build.target, args: build.args, files, contents, network: rules.buildNetwork, signal },
    progress,
  );
};
