// Why something was not allowed, as words to an agent whose protocol has no room for a reason in its answers.

import type { InteractionOutcome } from '@orrery/protocol';
import { clip } from './clip.ts';
import { INLINE_BODY_BYTES } from './limits.ts';

const whys: Readonly<Partial<Record<InteractionOutcome, string>>> = {
  'timed-out': 'Nobody answered in time.',
  withdrawn: 'The question was withdrawn.',
};

/** Null: there is nothing to tell. */
export const notAllowed = (
  what: string,
  { outcome, message }: { readonly outcome: InteractionOutcome; readonly message: string | null },
): string | null => {
  if (outcome === 'answered' || outcome.startsWith('approved')) return null;
  const why = message ?? whys[outcome] ?? null;
  return why === null ? null : `[Orrery] Not allowed: ${clip(what, INLINE_BODY_BYTES)}\nWhy: ${why}`;
};
