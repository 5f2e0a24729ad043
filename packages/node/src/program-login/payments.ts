// What pays a call: the login as it is now, its access token replaced before it ends, by one at a time.

import { OrreryError } from '@orrery/protocol/errors';
import type { Harness } from '../harness/harness.ts';
import type { HarnessLogin, KeptLogin } from '../harness/login.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Mutex } from '../kernel/mutex.ts';
import { asKept, type Keep } from './kept.ts';
import { REPLACE_BEFORE_MS } from './limits.ts';
import { refreshLogin } from './refresh.ts';

/** What the operator says of the login of one harness. */
export type LoginSettings = {
  readonly use: boolean;
  readonly baseUrl?: string | undefined;
  readonly issuer?: string | undefined;
};

/** Puts a login on one call. */
export type ProgramPayment = {
  readonly baseUrl: URL;
  /** The path of the call below `baseUrl`; null: it is not paid by a login. */
  path(path: string): string | null;
  headers(of: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
  /** Its provider does not know who calls: the access token is replaced before the next call. */
  refused(): void;
};

type PaymentParts = {
  readonly harness: (id: string) => Harness;
  readonly settings: (harness: string) => LoginSettings;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly send?: typeof fetch;
  readonly keep: Keep;
  /** Whoever changes what is kept of a harness does it in here. */
  readonly changes: Mutex;
};

type Known = { readonly id: string; readonly login: HarnessLogin };

export const createPayments = (parts: PaymentParts) => {
  const { keep, clock, changes } = parts;
  const refused = new Map<string, string>();

  const lasts = ({ id, login }: Known, kept: KeptLogin): boolean => {
    if (login.refresh === undefined) return true;
    if (refused.get(id) === kept.accessToken) return false;
    return kept.expiresAtMs === null || kept.expiresAtMs - clock.nowMs() > REPLACE_BEFORE_MS;
  };

  /** The next one, written down before it is used: its issuer takes the one before it no more. */
  const replace = (known: Known): Promise<KeptLogin | null> =>
    changes.run(known.id, async () => {
      const kept = await keep.read(known);
      if (kept === null || kept.ended !== null || lasts(known, kept)) return kept;
      const issuer = parts.settings(known.id).issuer ?? known.login.issuer ?? known.login.baseUrl;
      const refreshed = await refreshLogin(known.login, {
        kept,
        issuer,
        ...(parts.send === undefined ? {} : { send: parts.send }),
      });
      const next = 'over' in refreshed ? { ...kept, ended: refreshed.over } : asKept(refreshed.next, kept.keptAtMs);
      await keep.hold(known.id, next);
      return next;
    });

  return {
    find: async (asked: { readonly harness: string; readonly provider: string }): Promise<ProgramPayment | null> => {
      const { id, login } = parts.harness(asked.harness);
      if (login === undefined || login.provider !== asked.provider) return null;
      const settings = parts.settings(id);
      if (!settings.use) return null;
      const known = { id, login };
      const first = await keep.read(known);
      if (first === null) return null;
      const kept = first.ended !== null || lasts(known, first) ? first : await replace(known);
      if (kept === null) return null;
      if (kept.ended !== null) throw over(known, kept.ended);
      return {
        baseUrl: new URL(settings.baseUrl ?? login.baseUrl),
        path: login.path,
        headers: (of) => login.headers(kept, of),
        refused: () => void refused.set(id, kept.accessToken),
      };
    },
  };
};

const over = ({ id, login }: Known, why: string): OrreryError =>
  new OrreryError('login_failed', `The login of ${id} is over: ${why}.`, {
    rule: `Calls of ${id} are paid by ${login.account}; they go by a key when the login is forgotten (orrery harness logout ${id}).`,
    fix: `orrery harness login ${id}`,
  });
