import { imageName, memoryKind, taskLimits } from '@orrery/protocol';
import { z } from 'zod';
import { egressRuleForm, isEgressRule } from './egress-cover.ts';
import { parseYamlFile } from './yaml-file.ts';

/** What an agent is told when the validation failed; `{{validation_output}}` is replaced by what the script wrote. */
export const defaultRetryPrompt = `The check of this repository failed. Its output:

{{validation_output}}

Find the cause and repair it. Do not weaken the check.`;

/** A path below the root of the repository. */
const pathInside = z
  .string()
  .min(1)
  .max(500)
  // oxlint-disable-next-line no-control-regex
  .refine((path) => !/[\u0000-\u001f\u007f\\]/.test(path), 'a path')
  .refine(
    (path) => path.split('/').every((part) => !['', '.', '..', '.git'].includes(part)),
    'a path from the root of the repository, without . and .. and without / at an end',
  );

/** A path of the repository, from its root; nothing before or outside of it. */
const repositoryPath = z
  .string()
  .min(1)
  .max(1_000)
  .refine(
    (path) => !path.startsWith('/') && !path.split('/').includes('..') && !path.includes('\0'),
    'a path within the repository',
  );

/** What an image is built of. */
const build = z.strictObject({
  dockerfile: repositoryPath.default('Dockerfile').describe('The Dockerfile'),
  context: repositoryPath.default('.').describe('The folder that its COPY takes from'),
  target: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'the name of a stage')
    .optional()
    .describe('The stage to build'),
  args: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of an argument'), z.string().max(10_000))
    .default({})
    .describe('Build arguments'),
});

/** The schema of `.orrery/orrery.yaml`. What it says only ever narrows what the operator set. */
export const projectSchema = z.strictObject({
  harness: z.string().min(1).max(100).optional().describe('Agent program'),
  model: z.string().min(1).max(200).optional().describe('Model, as the program names it'),
  effort: z.string().min(1).max(50).optional().describe('How much the model thinks, as the program names it'),
  backend: z.string().min(1).max(100).optional().describe('Where tasks run'),
  base: z.string().min(1).max(500).optional().describe('Branch, tag or commit that tasks begin at'),
  image: imageName
    .optional()
    .describe('Image of backends that have images; one that the operator allows (execution.allowedImages)'),
  build: build
    .optional()
    .describe(
      'Image built from a Dockerfile of the base commit, where the operator allows it (execution.allowBuild) and the backend can',
    ),
  devcontainer: z
    .union([z.boolean(), repositoryPath])
    .optional()
    .describe(
      'Image, variables, user and set-up by a devcontainer.json of the base commit; true: .devcontainer/devcontainer.json',
    ),
  memory: z
    .array(memoryKind)
    .max(3)
    .optional()
    .describe('Memories that tasks get: global, project, agent; only those that the operator gives'),
  copy: z
    .array(pathInside.refine((path) => !path.includes('**'), '* and ? inside of a name'))
    .max(100)
    .default([])
    .describe('Ignored files of your folder that checkouts get, like .env; programs can read them, and they never come back'),
  cache: z
    .array(pathInside.refine((path) => !/[*?]/.test(path), 'a folder, without * and ?'))
    .max(20)
    .default([])
    .describe(
      'Folders that hold all that init.sh and setup leave, like node_modules; the same scripts and lock files run once then',
    ),
  submodules: z
    .enum(['none', 'shallow', 'recursive'])
    .default('none')
    .describe('Which submodules checkouts get: none, those of the commit, or those in them, too'),
  lfs: z
    .enum(['pointers', 'fetch'])
    .default('pointers')
    .describe('What checkouts have for files in Git LFS: their pointers, or their contents, which the node fetches'),
  setup: z
    .array(
      z
        .string()
        .min(1)
        .max(10_000)
        .refine((line) => !/[\0\r\n]/.test(line), 'one line'),
    )
    .max(200)
    .default([])
    .describe('Lines of shell that set up an environment people open, after init.sh; each is shown before it runs'),
  limits: taskLimits.optional().describe('Only smaller than the operator’s'),
  validation: z
    .strictObject({
      maxRetries: z.int().min(0).max(20).default(3).describe('How often the agent is sent back'),
      retryPrompt: z
        .string()
        .min(1)
        .max(100_000)
        .refine((text) => text.includes('{{validation_output}}'), 'must hold {{validation_output}}')
        .default(defaultRetryPrompt)
        .describe('What the agent is told then'),
    })
    .prefault({}),
  egress: z
    .array(z.string().max(300).refine(isEgressRule, egressRuleForm))
    .max(200)
    .default([])
    .describe('Hosts that hooks and agents may reach'),
  ports: z
    .array(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'lower case letters, digits and -'))
    .max(32)
    .refine((names) => new Set(names).size === names.length, 'each name once')
    .default([])
    .describe('Names of ports that each environment gets for itself, as ORRERY_PORT_<NAME>'),
});

/** What a project asks for. */
export type ProjectConfig = z.output<typeof projectSchema>;

/** Reads the text of a project file; null (no file) is an empty one. Throws `unknown_key` or `config_invalid` with its place. */
export const parseProjectFile = (text: string | null, label = '.orrery/orrery.yaml'): ProjectConfig =>
  parseYamlFile({ text: text ?? '', schema: projectSchema, label }).value;
