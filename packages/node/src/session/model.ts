// Glossary. A session is a conversation with an agent; a turn is one input to it and all that follows until it is settled.
// A steer is an input into the turn that runs. A generation is one start of the program. Parked: a turn of which nobody
// knows whether it reached the program waits for a person's word, and everything behind it too. Contract: sessions.

import {
  OrreryError,
  type PermissionMode,
  type SessionState,
  type SessionView,
  type TurnState,
  type TurnView,
  type UsageTotals,
  type Unattended,
} from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { AccountLimit } from './doors.ts';
import { agentRefOf } from '../store/kept-agent.ts';
import type { SessionRunTable, SessionTable, TurnTable } from '../store/session-tables.ts';

export type SessionRow = Selectable<SessionTable>;
export type TurnRow = Selectable<TurnTable>;
export type SessionRunRow = Selectable<SessionRunTable>;

const maybeInstant = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** What a session is shown with beside its own row. */
export type SessionSurroundings = {
  readonly seq: number;
  readonly sequence: number;
  readonly project: SessionView['project'];
  readonly environment: SessionView['environment'];
  readonly turn: number | null;
  readonly queued: number;
  readonly uncertain: number;
  readonly interactions: number;
  readonly limit: AccountLimit | null;
  readonly usage: UsageTotals;
  readonly forks: SessionView['forks'];
  readonly replayed: boolean;
};

/** What holds it up; what somebody let it go past does not. */
const limitView = ({ past_limit }: SessionRow, limit: AccountLimit | null): SessionView['limit'] =>
  limit === null || limit.metAt === past_limit
    ? null
    : { account: limit.account, until: toInstant(limit.until), told: limit.told };

/** The session that it parted from; null: it did not. */
export const forkedFrom = ({ forked_from: from }: Pick<SessionRow, 'forked_from'>): string | null =>
  from === null ? null : (JSON.parse(from) as { session: string }).session;

/** Where it parted; rows of an earlier version do not say what it went on with, and then it was the program's own memory. */
const partingOf = ({ forked_from: from }: SessionRow): SessionView['forkedFrom'] =>
  from === null ? null : { replaced: false, ...(JSON.parse(from) as Omit<NonNullable<SessionView['forkedFrom']>, 'replaced'>) };

/** A session as clients see it. */
export const toSession = (row: SessionRow, around: SessionSurroundings): SessionView => ({
  id: row.id,
  seq: around.seq,
  sequence: around.sequence,
  name: row.name,
  nameGiven: row.name_given === 1,
  title: row.name_given === 1 ? row.name : (row.title ?? row.name),
  state: row.state as SessionState,
  reason: row.reason,
  project: around.project,
  environment: around.environment,
  agent: agentRefOf(row),
  harness: row.harness,
  model: row.model,
  effort: row.effort,
  mode: row.mode as PermissionMode,
  effectiveModel: row.effective_model,
  effectiveEffort: row.effective_effort,
  effectiveMode: row.effective_mode,
  context: row.context === null ? null : (JSON.parse(row.context) as SessionView['context']),
  usage: around.usage,
  unattended: row.unattended as Unattended,
  conversation: row.conversation,
  generation: row.generation,
  turn: around.turn,
  ...{ queued: around.queued, uncertain: around.uncertain },
  held: row.held === 1,
  limit: limitView(row, around.limit),
  budget: { usd: row.budget_usd, turns: row.max_turns, reached: row.spent as SessionView['budget']['reached'] },
  interactions: around.interactions,
  createdAt: toInstant(row.created_at),
  changedAt: toInstant(row.changed_at),
  endedAt: maybeInstant(row.ended_at),
  operation: row.operation === null ? null : 'rewind',
  forks: around.forks,
  forkedFrom: partingOf(row),
  handedFrom: row.handed_from,
  handedTo: row.handed_to,
  replayed: around.replayed,
});

/** A turn as clients see it. */
export const toTurn = (row: TurnRow, replayed: boolean): TurnView => ({
  id: row.id,
  requestId: row.request_id,
  kind: row.kind as TurnView['kind'],
  turn: row.turn,
  state: row.state as TurnState,
  action: row.action as TurnView['action'],
  text: row.text,
  attachments: JSON.parse(row.attachments) as TurnView['attachments'],
  outcome: row.outcome as TurnView['outcome'],
  reason: row.reason,
  createdAt: toInstant(row.created_at),
  startedAt: maybeInstant(row.started_at),
  endedAt: maybeInstant(row.ended_at),
  undone: row.undone === 1,
  replayed,
});

/** Whether the program may be working on it. */
export const isActive = ({ state }: Pick<TurnRow, 'state'>): boolean => state === 'dispatching' || state === 'accepted';

export const sessionNotFound = (reference: string): OrreryError =>
  new OrreryError('not_found', `There is no session ${reference.slice(0, 200)}.`, {
    rule: 'A session is named by its id, the beginning of its id, or its name.',
    fix: 'orrery session list',
  });

export const turnNotFound = (reference: string): OrreryError =>
  new OrreryError('not_found', `There is no input ${reference.slice(0, 200)} in this session.`, {
    rule: 'Inputs are named by their id or their request id.',
    fix: 'orrery session queue SESSION',
  });

/** Why a session takes no input, or null. */
export const whyClosed = (row: SessionRow): OrreryError | null => {
  if (row.state !== 'ended' && row.state !== 'failed' && row.wanted !== 'end') return null;
  return new OrreryError(
    'conflict',
    `The session ${row.name} ${row.state === 'failed' ? `failed: ${row.reason ?? ''}` : 'has ended'}.`,
    {
      rule: 'A session that ended takes no more; what was said in it stays.',
      fix: row.state === 'failed' ? `orrery session close ${row.name}` : 'orrery session start',
    },
  );
};

/** Why an input cannot be changed, or null. */
export const whyNotWaiting = (turn: TurnRow): OrreryError | null => {
  if (turn.state === 'pending') return null;
  return new OrreryError('conflict', `The input ${turn.id} does not wait any more: it is ${turn.state}.`, {
    rule: 'Only an input that waits can be changed or taken back.',
    details: { state: turn.state },
  });
};

/** Why an input is not changed by somebody who saw another text of it, or null. */
export const whyOther = ({ id, text }: Pick<TurnRow, 'id' | 'text'>, was: string | undefined): OrreryError | null =>
  was === undefined || was === text
    ? null
    : new OrreryError('conflict', `The input ${id} was changed by somebody else since.`, {
        rule: 'A text that nobody saw is not written over.',
        fix: 'Look at it again, then change it: orrery session queue SESSION',
      });

/** The same request id for something else. */
export const otherIntent = (requestId: string, what: string): OrreryError =>
  new OrreryError('request_conflict', `Request ${requestId} was used for another ${what}.`, {
    rule: 'One request id stands for one intent; the same id with the same intent gets the same answer.',
    fix: 'Leave the request id out, or choose a new one.',
  });

/** What a program was told when it has been told everything there is. */
export const toldOf = ({ mode, model, effort }: Pick<SessionRow, 'mode' | 'model' | 'effort'>) => ({
  told_mode: mode,
  told_model: model,
  told_effort: effort,
});
