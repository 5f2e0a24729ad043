import { z } from 'zod';
import { nodeSchema } from './node-schema.ts';
import { policySchema } from './policy-schema.ts';
import { projectSchema } from './project-schema.ts';

const published = (
  schema: z.ZodType,
  { title, description }: { title: string; description: string },
): Record<string, unknown> => ({
  ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  title,
  description,
});

/** JSON Schema (2020-12) of the node's `config.yaml`, for editors. */
export const nodeJsonSchema = (): Record<string, unknown> =>
  published(nodeSchema, { title: 'Orrery node', description: 'The configuration of an Orrery node.' });

/** JSON Schema (2020-12) of a project's `.orrery/orrery.yaml`. */
export const projectJsonSchema = (): Record<string, unknown> =>
  published(projectSchema, {
    title: 'Orrery project',
    description: 'What a repository asks of Orrery; it only narrows what the operator set.',
  });

/** JSON Schema of a policy file. */
export const policyJsonSchema = (): Record<string, unknown> =>
  published(policySchema, {
    title: 'Orrery policy',
    description: 'Rules that decide what agents ask for permission; those of a project only deny or ask.',
  });
