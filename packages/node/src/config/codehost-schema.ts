import { z } from 'zod';
import { isPrivateWay } from '../kernel/private-way.ts';

const codehost = z.strictObject({
  kind: z.enum(['github']).default('github').describe('What it speaks: github (github.com, GitHub Enterprise Server)'),
  url: z
    .string()
    .max(2_048)
    .refine(isPrivateWay, 'must be an https:// address without credentials (http:// to this machine alone)')
    .default('https://api.github.com')
    .describe('Where its REST interface is; of a GitHub Enterprise Server https://HOST/api/v3'),
  match: z
    .array(z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(:\d{1,5})?$/, 'must be host or host:port'))
    .min(1)
    .max(20)
    .optional()
    .describe('Hosts of remotes that are of it; default: the host of url, without "api."'),
  secret: z
    .string()
    .regex(
      /^secret:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'must be secret:<name>; tokens stand in the secrets store (orrery secret set), never here',
    )
    .optional()
    .describe('secret:<name> of the token; default: the secret with the name of the code host'),
});

/** Where pull requests are opened. */
export const codehosts = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'lower case letters, digits and . _ -'), codehost)
  .default({})
  .describe('Code hosts, by name: where branches are pushed and pull requests opened');
