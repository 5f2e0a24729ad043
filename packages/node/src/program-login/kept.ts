// Where logins are kept: each a sealed secret of its own, `login-<harness>`.

import { OrreryError } from '@orrery/protocol/errors';
import type { Secrets } from '../config/secrets.ts';
import type { Harness } from '../harness/harness.ts';
import { createMutex } from '../kernel/mutex.ts';
import { keptLogin, type HarnessLogin, type KeptLogin, type NewLogin } from '../harness/login.ts';

/** Reads and writes what is kept. */
export type Keep = {
  /** null: none. @throws OrreryError config_invalid when it cannot be read */
  read(harness: Pick<Harness, 'id'> & { readonly login: HarnessLogin }): Promise<KeptLogin | null>;
  write(id: string, login: KeptLogin): Promise<void>;
  /**
   * Writes one that replaces what its issuer takes no more: where that fails (a full disk), it is what is read here all the
   * same, and each reading tries to write it again. Never rejects.
   */
  hold(id: string, login: KeptLogin): Promise<void>;
  /** Answers whether there was one. */
  remove(id: string): Promise<boolean>;
};

/** The name of its secret. */
export const secretOfLogin = (harness: string): string => `login-${harness}`;

export const createKeep = (secrets: Pick<Secrets, 'read' | 'set' | 'remove'>): Keep => {
  const held = new Map<string, KeptLogin>();
  const put = (id: string, login: KeptLogin): Promise<void> => secrets.set(secretOfLogin(id), JSON.stringify(login));
  // One after the other for each login: what was forgotten is not written again by who tried to keep it.
  const turns = createMutex();
  const settle = (id: string, login: KeptLogin): Promise<void> =>
    turns.run(id, async () => {
      if (held.get(id) !== login) return;
      try {
        await put(id, login);
        held.delete(id);
      } catch {
        // It is held, and tried again.
      }
    });
  return {
    read: async (harness) => {
      const waiting = held.get(harness.id);
      if (waiting === undefined) return readKept(secrets, harness);
      await settle(harness.id, waiting);
      return waiting;
    },
    write: (id, login) =>
      turns.run(id, async () => {
        await put(id, login);
        held.delete(id);
      }),
    hold: (id, login) => {
      held.set(id, login);
      return settle(id, login);
    },
    remove: (id) =>
      turns.run(id, async () => {
        const was = held.delete(id);
        return (await secrets.remove(secretOfLogin(id))) || was;
      }),
  };
};

const readKept = async (
  secrets: Pick<Secrets, 'read'>,
  { id, login }: { readonly id: string; readonly login: HarnessLogin },
): Promise<KeptLogin | null> => {
  const text = await secrets.read(secretOfLogin(id));
  if (text === null) return null;
  const known = keptLogin.safeParse(json(text));
  if (known.success) return known.data;
  // Set by hand, or in the environment of a node that nobody sits at: the token itself.
  if (login.accept !== undefined && !text.startsWith('{')) return asKept(login.accept(text.trim()), 0);
  throw new OrreryError('config_invalid', `The login of ${id} cannot be read.`, {
    rule: `It is kept in the secret "${secretOfLogin(id)}", which the node writes.`,
    fix: `orrery harness login ${id}`,
  });
};

/** A login newly got, as it is kept. */
export const asKept = (login: NewLogin, nowMs: number): KeptLogin => ({ version: 1, ...login, ended: null, keptAtMs: nowMs });

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
