// Glossary. A checkpoint is the files and the conversation of a session as they were at one moment. Going back (rewinding)
// is recorded before it begins: what is asked for, what was saved on the way. Undone: a turn that somebody went behind.

import { OrreryError, type CheckpointView, type SessionRewind } from '@orrery/protocol';
import type { Branch } from '../harness/dialogue.ts';
import { toInstant } from '../kernel/clock.ts';
import type { CheckpointRow } from './checkpoint-store.ts';
import { isActive, type SessionRow, type TurnRow } from './model.ts';

/** What is recorded of a rewinding while it goes on. */
export type Rewinding = {
  readonly kind: 'rewind';
  readonly checkpoint: string;
  readonly what: SessionRewind['what'];
  /** The checkpoint of what was there before, once it is made. */
  readonly before: string | null;
  /** Refs of work that was saved. */
  readonly saved: readonly string[];
};

/** What is being done to a session beside its turns; null: nothing. */
export const operationOf = ({ operation }: Pick<SessionRow, 'operation'>): Rewinding | null =>
  operation === null ? null : (JSON.parse(operation) as Rewinding);

/** The position of a conversation in which nothing was said yet; null: nobody knows where it is. */
export const AT_BEGINNING = '';

/** The place in a conversation that a session would go on from; null: nothing was said in one yet. */
export const pointOf = (session: Pick<SessionRow, 'conversation' | 'position' | 'branch'>): Branch | null => {
  const { conversation, position, branch } = session;
  if (conversation === null) return branch === null ? null : (JSON.parse(branch) as Branch);
  return position === AT_BEGINNING ? null : { conversation, position };
};

/** The place that a checkpoint kept. */
export const placeOfCheckpoint = ({ conversation }: Pick<CheckpointRow, 'conversation'>): Branch | null =>
  conversation === null ? null : (JSON.parse(conversation) as Branch);

/** Whether the program itself can go on from there. */
export const goesNatively = (row: Pick<CheckpointRow, 'conversation'>, can: 'native' | 'replaced'): boolean => {
  const place = placeOfCheckpoint(row);
  return place === null || (can === 'native' && place.position !== null);
};

/** A checkpoint as clients see it. */
export const toCheckpoint = (row: CheckpointRow, can: 'native' | 'replaced'): CheckpointView => ({
  id: row.id,
  kind: row.kind as CheckpointView['kind'],
  turn: row.turn,
  sequence: row.sequence,
  createdAt: toInstant(row.created_at),
  sha: row.sha,
  ref: row.ref,
  headSha: row.head_sha,
  branch: row.branch,
  conversation: goesNatively(row, can) ? 'native' : 'replaced',
  notes: JSON.parse(row.notes) as string[],
});

export const checkpointNotFound = (session: string, reference: string): OrreryError =>
  new OrreryError('not_found', `The session ${session} has no checkpoint ${reference.slice(0, 100)}.`, {
    rule: 'One is made before each turn, and the oldest go; it is named by its id or by the number of that turn.',
    fix: `orrery session checkpoints ${session}`,
  });

/** Why nothing can be done to a session as a whole, or null. */
export const whyNotStill = (row: SessionRow, open: readonly TurnRow[]): OrreryError | null => {
  if (row.operation !== null)
    return new OrreryError('busy', `The session ${row.name} is being taken back.`, {
      rule: 'One thing at a time is done to a session.',
      fix: `orrery session show ${row.name}`,
    });
  const uncertain = open.find(({ state }) => state === 'uncertain');
  if (uncertain !== undefined)
    return new OrreryError('conflict', `Nobody knows yet whether an input of ${row.name} reached its program.`, {
      rule: 'That is decided first.',
      fix: `orrery session decide ${row.name} ${uncertain.id} discard`,
    });
  if (!open.some(isActive)) return null;
  return new OrreryError('conflict', `A turn runs in the session ${row.name}.`, {
    rule: 'A session goes back, parts or moves between its turns.',
    fix: `orrery session stop ${row.name}`,
  });
};
