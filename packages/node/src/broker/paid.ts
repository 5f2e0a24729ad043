// What pays a call: a login of the program that makes it, else the key of its provider.

import { OrreryError } from '@orrery/protocol/errors';
import type { FindPayment, Payment, Provider } from './providers.ts';
import type { RefusalKind } from './wire-errors.ts';

/** How a call is paid, and its path where it goes. */
export type Paid = { readonly key: string | null; readonly payment: Payment | null; readonly path: string };

/** Why it cannot be. */
export type Unpaid = { readonly kind: RefusalKind; readonly refused: string; readonly detail: string };

type Asked = { readonly provider: Provider; readonly harness: string | null; readonly path: string };

/** Looks at the login first: who logged in wants it used. */
export const findPaid = async (find: FindPayment, { provider, harness, path }: Asked): Promise<Paid | Unpaid> => {
  try {
    const payment = harness === null ? null : await find({ harness, provider: provider.id });
    if (payment !== null) {
      const there = payment.path(path);
      return there === null
        ? {
            kind: 'path',
            refused: `The login of ${harness ?? ''} pays no calls of ${path.slice(0, 100)}.`,
            detail: 'not paid by the login',
          }
        : { key: null, payment, path: there };
    }
  } catch (thrown) {
    if (!(thrown instanceof OrreryError)) throw thrown;
    const passing = thrown.code === 'login_unreachable';
    const words = `${thrown.message} ${thrown.fix ?? ''}`.trim();
    return { kind: passing ? 'unreachable' : 'no_key', refused: words, detail: passing ? 'login unreachable' : 'login over' };
  }
  const key = await provider.key();
  if (key !== null || provider.keyStyle === 'none') return { key, payment: null, path };
  return {
    kind: 'no_key',
    refused: `There is no key for ${provider.id}. Set one: orrery secret set ${provider.id}`,
    detail: 'no key',
  };
};
