import { z } from 'zod';

/** An MCP server as the programs name it in front of its tools. */
export const mcpServerName = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** A server of the operator's, which agents name; its credential is put on by the broker. */
const mcpServer = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .refine((url) => {
      const { username, password } = new URL(url);
      return username === '' && password === '';
    }, 'an address holds no credential')
    .describe('Its address (streamable HTTP); no secrets'),
  keyStyle: z.enum(['bearer', 'x-api-key', 'none']).default('bearer').describe('How its credential is sent'),
  apiKey: z
    .string()
    .regex(
      /^secret:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'must be secret:<name>; credentials stand in the secrets store (orrery secret set), never here',
    )
    .optional()
    .describe('secret:<name> of the credential; default: the secret with the name of the server'),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().max(1_000))
    .default({})
    .describe('Further headers; no secrets'),
  projects: z
    .array(z.string().min(1).max(200))
    .max(1_000)
    .default([])
    .describe('Projects whose own agents may name it, by name or id; your own agents may always'),
});

/** All of them, by name. */
export const mcpServers = z
  .record(z.string().regex(mcpServerName, 'small letters, digits and _ - only, at most 32'), mcpServer)
  .default({})
  .describe('MCP servers that agents may name, by name');
