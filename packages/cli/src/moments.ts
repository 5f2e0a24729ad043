// Moments that a session can go back to, as people are told of them.

import type { CheckpointView, SessionView } from '@orrery/protocol';

/** How long a program that ends and a large checkout may take, ms. */
export const REWIND_PATIENCE_MS = 610_000;

/** Which moment a checkpoint is. */
export const momentText = ({ kind, turn }: CheckpointView): string =>
  kind === 'turn' ? `before turn ${turn ?? '?'}` : MOMENTS[kind];

const MOMENTS = { asked: 'asked for', rewind: 'before it was taken back', fork: 'where another session parted from it' } as const;

/** Where a session is after it went back to one. */
export const whereText = ({ kind, turn, id }: CheckpointView): string =>
  kind === 'turn' ? `before turn ${turn ?? '?'}` : `at ${id}`;

/** Where a session parted from another one, and what it went on with where that is not its program's own memory. */
export const partedText = ({ session, turn, replaced }: NonNullable<SessionView['forkedFrom']>): string => {
  const where = turn === null ? `forked from ${session}` : `forked from ${session} before turn ${turn}`;
  return replaced ? `${where}, with a record of what was said` : where;
};

/** What a fork of a session is given in place of the memory of its program; null: it has that. */
export const recordText = ({ harness, forks }: Pick<SessionView, 'harness' | 'forks'>): string | null =>
  forks === 'native'
    ? null
    : `${harness} cannot go on from a place in a conversation: the fork begins a new one with a record of what was said.`;
