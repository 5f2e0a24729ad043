// Glossary. An attached session is the identity of a person's own agent program, which was started outside the node and asks
// it for work. Its life is its process: it says again and again that it lives, and one that is silent has ended. The node
// neither starts, prompts nor stops it, so that it has no environment, no turns and no log. Contract: sessions.

import { OrreryError, type AttachedView, type Caller } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import { ATTACHED_SILENT_MS } from './limits.ts';
import { agentRefOf } from '../store/kept-agent.ts';
import type { AttachedSessionTable } from '../store/session-tables.ts';

export type AttachedRow = Selectable<AttachedSessionTable>;

/** When a process was heard of: for people, and on the clock that nobody sets. */
export type Heard = { readonly atMs: number; readonly monotonicMs: number };

const maybeInstant = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** An attached session as clients see it. */
export const toAttached = (
  row: AttachedRow,
  { seq, heard, replayed }: { readonly seq: number; readonly heard: Heard | null; readonly replayed: boolean },
): AttachedView => ({
  id: row.id,
  seq,
  name: row.name,
  state: row.ended_at === null ? 'attached' : 'ended',
  reason: row.reason,
  harness: row.harness,
  agent: agentRefOf(row),
  program: row.program,
  folder: row.folder,
  by: row.made_by,
  heardAt: row.ended_at === null ? maybeInstant(heard?.atMs ?? null) : null,
  createdAt: toInstant(row.created_at),
  endedAt: maybeInstant(row.ended_at),
  replayed,
});

/** Whether a process that was heard of then counts as gone now. */
export const isSilent = (heard: Pick<Heard, 'monotonicMs'>, nowMonotonicMs: number): boolean =>
  nowMonotonicMs - heard.monotonicMs > ATTACHED_SILENT_MS;

/** Its name where nobody gave it one. */
export const nameOf = (id: string, { harness }: { readonly harness?: string | undefined }): string =>
  `${harness ?? 'attached'}-${id.slice(-6)}`;

export const attachedNotFound = (reference: string): OrreryError =>
  new OrreryError('not_found', `There is no attached session ${reference.slice(0, 200)}.`, {
    rule: 'One is named by its id, the beginning of its id, or its name.',
    fix: 'orrery session list',
  });

/** Why somebody does not speak for it, or null: only the token that it came with does, and the owner's. */
export const whyNotIts = (row: AttachedRow, caller: Caller): OrreryError | null =>
  caller.scope === 'owner' || (row.token_id !== null && row.token_id === caller.token)
    ? null
    : new OrreryError('forbidden', `The token "${caller.name}" does not speak for the session ${row.name}.`, {
        rule: 'Only the token that a program attached with speaks for its session.',
        fix: 'Attach a session of its own: orrery mcp --attach',
      });

/** Why it asks for nothing any more, or null. */
export const whyOver = (row: AttachedRow): OrreryError | null =>
  row.ended_at === null
    ? null
    : new OrreryError('conflict', `The session ${row.name} has ended: ${row.reason ?? ''}.`, {
        rule: 'An attached session lives as long as its process.',
        fix: 'Attach again: orrery mcp --attach',
        details: { ended: row.id },
      });

/** What everything is answered with that would be done to its conversation. */
export const notOurs = ({ id, name, program, harness }: AttachedRow): OrreryError =>
  new OrreryError(
    'unsupported',
    `The session ${name} is attached: ${program ?? harness ?? 'its program'} was started outside Orrery.`,
    {
      rule: 'The node neither starts, prompts nor stops an attached program, and keeps no log of it; its life is its process.',
      fix: 'Say it in that program itself. Who is attached: orrery session list',
      details: { attached: id },
    },
  );
