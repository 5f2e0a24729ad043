// How containers of this node are told from everybody else's. A name proves nothing; only all of its labels do.

/** The label keys on everything that is made in an engine. */
export const LABELS = {
  installation: 'dev.orrery.installation',
  environment: 'dev.orrery.environment',
  task: 'dev.orrery.task',
  image: 'dev.orrery.image',
  /** On images that were built: the key of what they were built of. */
  build: 'dev.orrery.build',
  /** On what environments share; they themselves have none. */
  shared: 'dev.orrery.shared',
} as const;

/** Labels of an image that has agent programs, in the layout of a node of that version. */
export const IMAGE_LABELS = { version: 'dev.orrery.version', programs: 'dev.orrery.programs', node: 'dev.orrery.node' } as const;

/** Whose a container is. */
export type Owner = { readonly installation: string; readonly environmentId?: string; readonly shared?: true };

/** The engine's filter for what an owner has. */
export const labelFilter = ({ installation, environmentId, shared }: Owner): { label: string[] } => {
  const kind = shared === true ? LABELS.shared : LABELS.environment;
  return {
    label: [
      `${LABELS.installation}=${installation}`,
      environmentId === undefined ? kind : `${LABELS.environment}=${environmentId}`,
    ],
  };
};

/** Whether labels are exactly this owner's: filters of an engine are not believed. */
export const isOwned = (labels: Readonly<Record<string, string>> | null | undefined, owner: Owner): boolean =>
  labels?.[LABELS.installation] === owner.installation &&
  (owner.environmentId === undefined
    ? labels[LABELS.environment] !== undefined
    : labels[LABELS.environment] === owner.environmentId);
