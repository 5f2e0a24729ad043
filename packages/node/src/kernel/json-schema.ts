import { OrreryError } from '@orrery/protocol/errors';
import { SCHEMA_BYTES, SCHEMA_FAULTS } from './limits.ts';

/** Says what of a value does not fit a schema, in words; empty: it fits. */
export type SchemaCheck = (value: unknown) => readonly string[];

/**
 * Compiles a JSON Schema of the draft 2020-12. Formats are not checked, and nothing outside of the schema is referred to.
 * Rejects with `invalid_input` what is none, or is too large.
 */
export const compileSchema = async (schema: Readonly<Record<string, unknown>>, what: string): Promise<SchemaCheck> => {
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES)
    throw new OrreryError('input_too_large', `The ${what} is too large.`, { rule: `At most ${SCHEMA_BYTES} bytes.` });
  // Few tasks have a schema, and its compiler is slow to load.
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
  try {
    const validate = ajv.compile(schema);
    return (value) => {
      if (validate(value)) return [];
      return (validate.errors ?? [])
        .slice(0, SCHEMA_FAULTS)
        .map(({ instancePath, message }) => `${instancePath === '' ? 'the value' : instancePath} ${message ?? 'does not fit'}`);
    };
  } catch (thrown) {
    throw new OrreryError('invalid_input', `The ${what} is no JSON Schema: ${(thrown as Error).message.slice(0, 300)}.`, {
      rule: 'It is one of the draft 2020-12 and refers to nothing outside of itself.',
    });
  }
};
