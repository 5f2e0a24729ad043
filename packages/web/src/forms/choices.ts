// What a form offers, as the node reported it.

import type { BackendView } from '@orrery/protocol';
import type { Choice } from './field.tsx';

/** Backends that may be used; one that cannot be says why. Empty: the node's default. */
export const backendChoices = (backends: readonly BackendView[] | undefined): readonly Choice[] => {
  const usual = backends?.find(({ isDefault }) => isDefault);
  return [
    { value: '', name: usual === undefined ? "The node's default" : `${usual.name} (default)` },
    ...(backends ?? [])
      .filter(({ isDefault }) => !isDefault)
      .map(({ name, allowed, usable, problem }) => ({
        value: name,
        name: !allowed ? `${name} (not allowed here)` : usable ? name : `${name} (${problem ?? 'not usable'})`,
        disabled: !allowed || !usable,
      })),
  ];
};
