import { OrreryError } from '@orrery/protocol/errors';
import { nodeJsonSchema, policyJsonSchema, projectJsonSchema } from '../config/json-schema.ts';
import type { Verb } from './verb.ts';

/** `config schema`: the JSON Schemas of the files, for editors. */
export const config: Verb = async ({ positionals }) => {
  if (positionals[0] === 'schema')
    return { result: { node: nodeJsonSchema(), project: projectJsonSchema(), policy: policyJsonSchema() } };
  throw new OrreryError('unknown_command', `There is no "config ${positionals[0] ?? ''}".`, { rule: 'It is schema.' });
};
