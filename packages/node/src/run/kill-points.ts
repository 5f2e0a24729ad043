/**
 * Moments of an attempt at which the crash tests end the node, in the order in which an attempt meets them. Each lies
 * between two durable steps, so that together they show that the next start repairs every state in between.
 */
export const killPoints = [
  'claimed',
  'attempt-recorded',
  'checkout-made',
  'prepared',
  'environment-recorded',
  'environment-opened',
  'run-recorded',
  'run-launched',
  'run-identity-stored',
  'run-going',
  'input-written',
  'output-committed',
  'run-ended',
  'end-recorded',
  'run-finished',
  'validated',
  'environment-closed',
  'collected',
  'settled',
  'released',
] as const;

/** The same for what is done to an environment of its own. */
export const environmentKillPoints = [
  'environment-checkout-made',
  'environment-files-copied',
  'environment-place-made',
  'environment-made',
  'environment-place-opened',
  'environment-started',
  'environment-setup-begun',
  'environment-script-going',
  'environment-script-ended',
  'environment-setup-ended',
  'environment-place-closed',
  'environment-stopped',
  'environment-work-saved',
  'environment-place-removed',
  'environment-emptied',
] as const;

/** The same for a session. */
export const sessionKillPoints = [
  'session-run-recorded',
  'session-run-launched',
  'session-run-going',
  'session-frame-written',
  'session-output-committed',
  'session-ended',
  'session-checkpoint-saved',
  'session-rewind-saved',
  'session-rewind-salvaged',
  'session-rewind-files',
  'session-rewound',
  'session-fork-kept',
  'session-forked',
  'session-fork-carried',
] as const;

export type KillPoint = (typeof killPoints)[number] | (typeof environmentKillPoints)[number] | (typeof sessionKillPoints)[number];

/** Called at each point; outside crash tests it does nothing. */
export type AtKillPoint = (point: KillPoint, where: string) => void;
