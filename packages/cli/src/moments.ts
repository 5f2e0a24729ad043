// Moments that a session can go back to, as people are told of them.

import type { CheckpointView } from '@orrery/protocol';

/** How long a program that ends and a large checkout may take, ms. */
export const REWIND_PATIENCE_MS = 610_000;

/** Which moment a checkpoint is. */
export const momentText = ({ kind, turn }: CheckpointView): string =>
  kind === 'turn' ? `before turn ${turn ?? '?'}` : kind === 'asked' ? 'asked for' : 'before it was taken back';

/** Where a session is after it went back to one. */
export const whereText = ({ kind, turn, id }: CheckpointView): string =>
  kind === 'turn' ? `before turn ${turn ?? '?'}` : `at ${id}`;
