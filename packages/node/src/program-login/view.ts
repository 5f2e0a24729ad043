// How a login is shown: never with a token.

import type { HarnessLoginView, PaidBy } from '@orrery/protocol';
import type { Harness, InstalledProgram } from '../harness/harness.ts';
import type { KeptLogin } from '../harness/login.ts';
import { toInstant } from '../kernel/clock.ts';

/** A login that a person has to go on with. */
export type Waiting = { readonly url: string; readonly code: string; readonly untilMs: number };

type Known = {
  readonly paidBy: PaidBy;
  readonly kept: KeptLogin | null;
  readonly waiting: Waiting | null;
  readonly problem: string | null;
  readonly program: InstalledProgram | null;
};

/** Why a program cannot be logged in. */
export const noLogin = ({ provider, declared, pin, own }: Harness): string => {
  if (declared === true || own !== undefined)
    return 'It is your own program, with its own ways to its model; the node holds none of its accounts.';
  if (pin === null) return 'It calls no model.';
  return provider === null
    ? 'Its models are of any provider, each paid by the key of its provider.'
    : 'Its own login stays in its home, where an agent could read it; its calls are paid by a key, which the node puts on.';
};

const wordOf = ({ id, login }: Harness, { program }: Known): string | null => {
  if (login?.prints === undefined || program === null) return null;
  return [program.executable, ...login.prints].map((word) => (/^[\w./@:-]+$/.test(word) ? word : `'${word}'`)).join(' ') || id;
};

export const loginView = (harness: Harness, known: Known): HarnessLoginView => {
  const { login } = harness;
  const { kept, waiting } = known;
  const standing = kept === null ? 'none' : kept.ended === null ? 'kept' : 'ended';
  return {
    harness: harness.id,
    paidBy: known.paidBy,
    state: waiting === null ? standing : 'waiting',
    ways: [
      ...(login?.accept === undefined ? [] : (['token'] as const)),
      ...(login?.device === undefined ? [] : (['device'] as const)),
    ],
    account: login?.account ?? null,
    who: kept?.who ?? null,
    since: kept === null || kept.keptAtMs === 0 ? null : toInstant(kept.keptAtMs),
    prints: wordOf(harness, known),
    url: waiting?.url ?? null,
    code: waiting?.code ?? null,
    waitsUntil: waiting === null ? null : toInstant(waiting.untilMs),
    problem:
      login === undefined ? noLogin(harness) : (known.problem ?? (kept?.ended == null ? null : `It is over: ${kept.ended}.`)),
  };
};
