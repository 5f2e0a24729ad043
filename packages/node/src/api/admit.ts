import { includesScope, type Caller, type Scope } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../kernel/clock.ts';
import { AUTH_FAILURES_BURST, AUTH_FAILURES_PER_SECOND, RATE_KEYS } from '../kernel/limits.ts';
import { createRateLimiter } from '../kernel/rate-limiter.ts';
import type { Tokens } from '../token/index.ts';

/** What of `Tokens` the doors need. */
export type Authenticate = Pick<Tokens, 'authenticate'>;

/** Who knocks: what the request says of its token, and where it comes from. */
export type Knock = { readonly authorization: string | undefined; readonly address: string | undefined };

/** Lets a caller in with at least that scope. Failed tries are counted by address. @throws OrreryError unauthenticated, forbidden, rate_limited */
export type Admit = (knock: Knock, scope: Scope | null) => Promise<Caller>;

const nobody: Caller = { name: 'anonymous', scope: 'viewer' };

/** Makes it; one for all doors of a node, so that failures count together. */
export const createAdmission = ({ tokens, clock }: { readonly tokens: Authenticate; readonly clock: Clock }): Admit => {
  const failures = createRateLimiter({
    burst: AUTH_FAILURES_BURST,
    perSecond: AUTH_FAILURES_PER_SECOND,
    keys: RATE_KEYS,
    clock,
  });
  /** Counts a failed try. Only those who fail are told to wait: nobody can lock out a caller whose token is valid. */
  const tooManyFailures = (address: string | undefined): OrreryError | null => {
    const waitMs = failures.take(address ?? 'unknown');
    if (waitMs === 0) return null;
    return new OrreryError('rate_limited', 'Too many requests without a valid token came from this address.', {
      fix: `Try again in ${waitMs} ms.`,
      details: { retryAfterMs: waitMs },
    });
  };
  return async ({ authorization, address }, scope) => {
    if (scope === null) return nobody;
    let caller: Caller;
    try {
      caller = await tokens.authenticate(authorization);
    } catch (thrown) {
      // Who shows nothing guesses nothing: a page that is not let in asks for all that it would show.
      const guessed = authorization !== undefined && thrown instanceof OrreryError && thrown.code === 'unauthenticated';
      throw guessed ? (tooManyFailures(address) ?? thrown) : thrown;
    }
    if (includesScope(caller.scope, scope)) return caller;
    throw new OrreryError('forbidden', `The token "${caller.name}" may not do this.`, {
      rule: `It needs the scope "${scope}"; the token has "${caller.scope}".`,
      fix: `Use a token with that scope, or make one: orrery token create --scope ${scope} NAME`,
    });
  };
};
