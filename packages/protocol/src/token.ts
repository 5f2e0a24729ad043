import { z } from 'zod';
import { instant, safeName } from './scalars.ts';

/** Scopes of API tokens; owner ⊃ operator ⊃ viewer. */
export const scopes = ['viewer', 'operator', 'owner'] as const;
export const scope = z.enum(scopes);
export type Scope = z.output<typeof scope>;

/** Whether a scope includes another. */
export const includesScope = (held: Scope, needed: Scope): boolean => scopes.indexOf(held) >= scopes.indexOf(needed);

/** An API token as listed: never the token itself. */
export const tokenView = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  expiresAt: instant.nullable(),
});
export type TokenView = z.output<typeof tokenView>;
export const tokenCreate = z.strictObject({ name: safeName, scope, expiresAt: instant.optional() });
/** The only time a token is shown. */
export const tokenCreated = tokenView.extend({ token: z.string() });
