// What a session declared for when nobody is there: everything that it asks is decided at once, by that rule.

import type { InteractionAsk, Unattended } from '@orrery/protocol';
import { NOBODY_IS_THERE } from '../../harness/unattended.ts';
import { askOf, settleInteraction, type InteractionRow } from '../../interaction/index.ts';
import { isActive, openTurns, updateTurn } from '../../session/index.ts';
import type { Tx } from '../../store/store.ts';

/** Why a turn was stopped: it needed a permission, and nobody was there. */
export const UNATTENDED = 'unattended';

/** What wants words, and no permission. */
const WORDS: ReadonlySet<InteractionAsk['kind']> = new Set(['question', 'form']);

const words = ({ kind }: InteractionAsk, fails: boolean): string => {
  if (WORDS.has(kind)) return NOBODY_IS_THERE;
  if (fails) return 'Nobody is there to allow it. The turn ends here.';
  return 'Nobody is there to allow it. Go on without it.';
};

/** Settles what is asked as the rule says; answers whether it did. `wait` decides nothing. */
export const settleByRule = async (
  tx: Tx,
  row: InteractionRow,
  { rule, nowMs }: { readonly rule: Unattended; readonly nowMs: number },
): Promise<boolean> => {
  if (rule === 'wait') return false;
  const ask = askOf(row);
  const fails = rule === 'fail' && !WORDS.has(ask.kind);
  const by = `rule "unattended ${rule}"`;
  const settled = await settleInteraction(tx, row, { outcome: 'denied', by, message: words(ask, fails), told: false, nowMs });
  if (settled && fails)
    for (const turn of await openTurns(tx.db, row.session_id))
      if (isActive(turn) && turn.kind === 'prompt' && turn.cancel_requested === 0)
        await updateTurn(tx.db, turn.id, { cancel_requested: 1, reason: UNATTENDED });
  return settled;
};
