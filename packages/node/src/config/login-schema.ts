import { z } from 'zod';
import { isPrivateWay } from '../kernel/private-way.ts';

const address = z
  .string()
  .max(2_048)
  .refine(isPrivateWay, 'must be an https:// address without credentials (http:// to this machine alone)');

/** How logins of agent programs are used, by harness. */
export const logins = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'lower case letters, digits and . _ -'),
    z.strictObject({
      use: z
        .boolean()
        .default(true)
        .describe('Whether a login pays the calls of this harness; false: a key, though there is one'),
      baseUrl: address.optional().describe('Where calls that a login pays go; default: where its maker takes them'),
      issuer: address.optional().describe('Who lets in and gives access tokens; default: its maker'),
    }),
  )
  .default({})
  .describe('Logins of agent programs (orrery harness login), by harness');
