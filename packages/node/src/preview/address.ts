// Glossary. A preview is one port of one environment, seen in a browser. Its name is the first label of its host,
// `<environment>-<port>.localhost`: an origin of its own, that no other preview ever has, because ids are never used again.

/** A preview by what it is of. */
export type PreviewOf = { readonly environmentId: string; readonly port: number };

const NAME = /^(env)-([0-9a-z]{26})-([1-9]\d{0,4})$/;

/** The name of a preview. An id has an underscore, which the name of a host may not. */
export const previewName = ({ environmentId, port }: PreviewOf): string => `${environmentId.replace('_', '-')}-${port}`;

/** What a name is of; null: it is none. */
export const previewOf = (name: string): PreviewOf | null => {
  const [, kind = '', id = '', port = ''] = NAME.exec(name) ?? [];
  return id === '' || Number(port) > 65_535 ? null : { environmentId: `${kind}_${id}`, port: Number(port) };
};

/** The host of a preview as browsers write it, where the node listens for previews on that port. */
export const previewHost = (name: string, listening: number): string =>
  listening === 80 ? `${name}.localhost` : `${name}.localhost:${listening}`;

/** The name in a `Host` header; null when it is not exactly that of a preview at this port, as after DNS rebinding. */
export const nameOfHost = (host: string | undefined, listening: number): string | null => {
  const name = host?.split('.', 1)[0] ?? '';
  return previewOf(name) !== null && host === previewHost(name, listening) ? name : null;
};
