// Glossary. The answer of a turn is the last text that its agent said: what people read, and what a schema is held against.

import type { Kysely } from 'kysely';
import type { TurnOutcome } from '../harness/harness.ts';
import type { Tables } from '../store/tables.ts';

/** The last text of a turn of a task's newest attempt, or null when it said nothing; without a turn, of that attempt. */
export const lastText = async (db: Kysely<Tables>, taskKey: number, turn?: number): Promise<string | null> => {
  const { begun } = await db
    .selectFrom('event')
    .select((eb) => eb.fn.max('sequence').as('begun'))
    .where('task_key', '=', taskKey)
    .where('kind', '=', 'attempt.started')
    .executeTakeFirstOrThrow();
  let select = db
    .selectFrom('event')
    .select('body')
    .where('task_key', '=', taskKey)
    .where('kind', '=', 'text')
    .where('sequence', '>', begun ?? 0)
    .orderBy('sequence', 'desc')
    .limit(1);
  if (turn !== undefined) select = select.where('turn', '=', turn);
  const found = await select.executeTakeFirst();
  return found === undefined ? null : (JSON.parse(found.body) as { text: string }).text;
};

/** When the usage limit ends that a task's newest turn met, as it was said; null: it was not. */
export const lastReset = async (db: Kysely<Tables>, taskKey: number): Promise<string | null> => {
  const found = await db
    .selectFrom('event')
    .select('body')
    .where('task_key', '=', taskKey)
    .where('kind', '=', 'turn.ended')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) return null;
  const { outcome, resetsAt } = JSON.parse(found.body) as TurnOutcome;
  return outcome === 'limit' ? resetsAt : null;
};

/** A fence around the whole of a text: models put JSON into one though they were told not to. */
const FENCE = /^\s*```[a-z]*\n([\s\S]*?)\n?```\s*$/;

/** The JSON value that a text is, or nothing. */
export const jsonOf = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(FENCE.exec(text)?.[1] ?? text) };
  } catch {
    return null;
  }
};
