/**
 * Moments of an environment in a place at which the crash tests end the node, in the order in which it meets them. Each
 * lies between two durable steps.
 */
export const placeSteps = [
  'place-recorded',
  'place-made',
  'place-noted',
  'stage-in',
  'staged-in',
  'place-open',
  'sync',
  'synced',
  'stage-out',
  'staged-out',
  'place-removed',
] as const;

export type PlaceStep = (typeof placeSteps)[number];

/** Called at each step; outside crash tests it does nothing. It may throw, which is the node's death there. */
export type AtPlaceStep = (step: PlaceStep) => void;
