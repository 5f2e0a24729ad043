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

/** Whether what runs on the chosen backend is made from an image that can be named. Empty: the node's default. */
export const takesImages = (backends: readonly BackendView[] | undefined, chosen: string): boolean =>
  backends?.find(({ name, isDefault }) => (chosen === '' ? isDefault : name === chosen))?.takesImages ?? false;

/** Where something is to run. Empty: what the node takes by itself. */
export type Where = { readonly backend: string; readonly image: string };

/** What another backend makes of what was said: an image is not asked for where there are none. */
export const onBackend = (backends: readonly BackendView[] | undefined, backend: string): Partial<Where> =>
  takesImages(backends, backend) ? { backend } : { backend, image: '' };
