// `devcontainer.json`: what of it is honoured here, what is refused, and what is said to have no part.
import { posix } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { parseJsonc } from './jsonc.ts';

/** Where an image comes from: a name, or a Dockerfile with its context (paths from the root of the repository). */
export type ImageSource =
  | { readonly image: string }
  | {
      readonly dockerfile: string;
      readonly context: string;
      readonly target: string | null;
      readonly args: Readonly<Record<string, string>>;
    };

/** What a file asks for. */
export type Devcontainer = {
  readonly source: ImageSource;
  readonly variables: Readonly<Record<string, string>>;
  /** Name or number; null: the image's own. */
  readonly user: string | null;
  /** Lines of shell that set up an environment. */
  readonly setup: readonly string[];
  /** Keys that have no part in it. */
  readonly unused: readonly string[];
};

const text = z.string().min(1).max(10_000);
const values = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable'), z.string().max(10_000));
const command = z.union([text, z.array(text).min(1)]);
const lifecycle = z.union([command, z.record(z.string(), command)]).optional();

const schema = z.looseObject({
  image: text.optional(),
  build: z
    .looseObject({
      dockerfile: text.optional(),
      context: text.optional(),
      target: text.optional(),
      args: values.optional(),
      options: z.array(z.string()).optional(),
    })
    .optional(),
  dockerFile: text.optional(),
  context: text.optional(),
  containerEnv: values.optional(),
  containerUser: text.optional(),
  remoteUser: text.optional(),
  onCreateCommand: lifecycle,
  updateContentCommand: lifecycle,
  postCreateCommand: lifecycle,
});

type Parsed = z.output<typeof schema>;

const HONOURED = Object.keys(schema.shape);
/** What would reach out of the container, or change what it may do. */
const WIDENING =
  'mounts workspaceMount runArgs privileged capAdd securityOpt appPort initializeCommand dockerComposeFile service runServices'.split(
    ' ',
  );
/** What an image would lack without it. */
const MISSING = ['features'];

const empty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const invalid = (path: string, message: string, rule?: string): OrreryError =>
  new OrreryError('config_invalid', `${path}: ${message}.`, { rule, details: { key: 'devcontainer' } });

const refuseWidening = (path: string, given: Readonly<Record<string, unknown>>): void => {
  const options = (given as Parsed).build?.options;
  const found = WIDENING.find((key) => !empty(given[key])) ?? (empty(options) ? undefined : 'build.options');
  if (found !== undefined)
    throw new OrreryError('widening_refused', `${path} asks for ${found}.`, {
      rule: 'What a container may reach is the operator’s: mounts, rights, networks and programs of this machine are never a project’s.',
      fix: `Take ${found} out of ${path}, or give the project another devcontainer.json: devcontainer in .orrery/orrery.yaml`,
      details: { key: found },
    });
  const missing = MISSING.find((key) => !empty(given[key]));
  if (missing !== undefined)
    throw new OrreryError('unsupported', `${path} asks for ${missing}, which are not installed here.`, {
      rule: 'An image without what its file asks for would be another one.',
      fix: `Install them in a Dockerfile, and name that in ${path}: build.dockerfile`,
      details: { key: missing },
    });
};

/** `${localEnv:…}` and its like are of a machine or a tool that is not here. */
const OF_TOOLS = /\$\{(local|container|devcontainer)[A-Za-z]*(:[^}]*)?\}/;

const refuseToolVariables = (path: string, strings: readonly string[]): void => {
  const found = strings.map((one) => OF_TOOLS.exec(one)?.[0]).find((one) => one !== undefined);
  if (found !== undefined)
    throw invalid(path, `${found} has no value here`, 'Variables of this machine are not given to projects.');
};

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

const linesOf = (given: z.output<typeof lifecycle>): string[] => {
  if (given === undefined) return [];
  if (typeof given === 'string') return [given];
  if (Array.isArray(given)) return [given.map(quote).join(' ')];
  return Object.values(given).flatMap((one) => linesOf(one));
};

/** A path of the repository, written from the folder of the file. */
const inside = (path: string, written: string): string => {
  const joined = posix.normalize(posix.join(posix.dirname(path), written));
  if (posix.isAbsolute(written) || joined === '..' || joined.startsWith('../'))
    throw invalid(path, `${written} is not in the repository`, 'Builds take files of the commit alone.');
  return joined.replace(/\/$/, '');
};

const sourceOf = (path: string, given: Parsed): ImageSource => {
  const dockerfile = given.build?.dockerfile ?? given.dockerFile;
  if (dockerfile === undefined) {
    if (given.image === undefined) throw invalid(path, 'it names neither an image nor a Dockerfile');
    return { image: given.image };
  }
  return {
    dockerfile: inside(path, dockerfile),
    context: inside(path, given.build?.context ?? given.context ?? '.'),
    target: given.build?.target ?? null,
    args: given.build?.args ?? {},
  };
};

const parse = (path: string, source: string): Readonly<Record<string, unknown>> => {
  try {
    const given = parseJsonc(source);
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Record<string, unknown>;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  throw invalid(path, 'it is no JSON object (with comments)');
};

/**
 * Reads the file at `path` of a repository. Throws `widening_refused` for what would reach out of a container, `unsupported`
 * for what an image would lack, `config_invalid` for what cannot be read.
 */
export const readDevcontainer = (path: string, source: string): Devcontainer => {
  const given = parse(path, source);
  refuseWidening(path, given);
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw invalid(path, `${issue.path.join('.')}: ${issue.message}`);
  }
  const { containerEnv = {}, remoteUser, containerUser, onCreateCommand, updateContentCommand, postCreateCommand } = parsed.data;
  const setup = [onCreateCommand, updateContentCommand, postCreateCommand].flatMap(linesOf);
  const image = sourceOf(path, parsed.data);
  const args = 'args' in image ? Object.values(image.args) : [image.image];
  refuseToolVariables(path, [...args, ...Object.values(containerEnv), ...setup, remoteUser ?? containerUser ?? '']);
  return {
    source: image,
    variables: containerEnv,
    user: remoteUser ?? containerUser ?? null,
    setup,
    unused: Object.keys(given).filter(
      (key) => !HONOURED.includes(key) && !['$schema', 'name'].includes(key) && !empty(given[key]),
    ),
  };
};
