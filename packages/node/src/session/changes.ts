// What a person changes of a session that is there.

import { OrreryError, type PermissionMode, type Unattended } from '@orrery/protocol';
import type { SessionParts } from './doors.ts';
import type { Tx } from '../store/store.ts';
import { budgetChange } from './budget.ts';
import type { SessionRow } from './model.ts';
import { changeSession, tellRenamed } from './store.ts';

/** What can be changed of a session. */
export type SessionChange = {
  readonly name?: string;
  readonly mode?: PermissionMode;
  readonly unattended?: Unattended;
  readonly model?: string;
  readonly effort?: string;
  readonly budgetUsd?: number | null;
  readonly maxTurns?: number | null;
};

/** Throws `unsupported` for what its program cannot have changed. */
const checkChange = (parts: SessionParts, { harness, name }: SessionRow, { mode, model, effort }: SessionChange): void => {
  if (mode !== undefined) parts.checkMode(harness, mode);
  const can = parts.abilities(harness);
  const what = model !== undefined && !can.models ? 'model' : effort !== undefined && !can.effort ? 'effort' : null;
  if (what === null) return model === undefined ? undefined : parts.checkModel(harness, model);
  throw new OrreryError('unsupported', `${harness} does not change its ${what} in the session ${name}.`, {
    rule: 'What a program can do is shown by its harness.',
    fix: `orrery harness show ${harness}`,
  });
};

/** Changes what a person wants changed; what it may cost holds at once, also for its program. */
export const setSession = async (
  parts: SessionParts,
  tx: Tx,
  { row, wanted, nowMs }: { readonly row: SessionRow; readonly wanted: SessionChange; readonly nowMs: number },
): Promise<void> => {
  checkChange(parts, row, wanted);
  const { budgetUsd, maxTurns, ...others } = wanted;
  const rest = { ...others, ...(others.name === undefined ? {} : { name_given: 1 }) };
  // Also what is not its name stands in other windows.
  await tellRenamed(tx, row);
  if (budgetUsd === undefined && maxTurns === undefined) return changeSession(tx, row.id, { ...rest, nowMs });
  const { costUsd } = await parts.usageOf(row.id);
  const bounds = await budgetChange(tx.db, row, { budgetUsd, maxTurns, costUsd });
  if (budgetUsd !== undefined) await parts.setBudget(tx, row.id, budgetUsd);
  await changeSession(tx, row.id, { ...rest, ...bounds, nowMs });
};
