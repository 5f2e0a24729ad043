// Other names of backends, as each backend's own folder says them. Configuration is read before there are backends, and must
// know all the same that two names mean one; a test keeps both alike.

const canonical: ReadonlyMap<string, string> = new Map([
  ['landlock', 'sandbox'],
  ['landrun', 'sandbox'],
  ['bwrap', 'bubblewrap'],
  ['podman', 'docker'],
  ['k8s', 'kubernetes'],
]);

/** The name that a backend goes by, for any of its names. A name that is no other name is answered as it is. */
export const canonicalBackend = (name: string): string => canonical.get(name) ?? name;

/** Whether a list of names has the backend of that name, whichever of its names stand there. */
export const namesBackend = (names: readonly string[], name: string): boolean =>
  names.some((one) => canonicalBackend(one) === canonicalBackend(name));
