// An agent works in a checkout of its own: the same file has one path there and another in the editor's folder.
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How paths of the environment and of the editor stand to each other. */
export type Place = {
  /** A path of the environment as the editor knows it; what is not in the checkout stays as it is. */
  outward(path: string): string;
  /** A path of the editor as the agent finds it: from the top of its checkout, in which it works. Others stay as they are. */
  inward(path: string): string;
  /** The same for the address of a file; other addresses stay as they are. */
  inwardUri(uri: string): string;
};

/** The way from a folder to what is in it; null: it is not in it. */
const below = (folder: string | null, path: string): string | null => {
  if (folder === null || !posix.isAbsolute(path)) return null;
  const rest = posix.relative(folder, path);
  return rest === '..' || rest.startsWith('../') ? null : rest;
};

/** `workdir`: the checkout as programs inside see it, null while it is not made. `root`: the editor's folder, null: another project's. */
export const placeOf = ({ root, workdir }: { readonly root: string | null; readonly workdir: () => string | null }): Place => {
  const inward = (path: string): string => {
    const rest = below(root, path);
    return rest === null ? path : rest === '' ? '.' : rest;
  };
  return {
    outward: (path) => {
      const inside = workdir();
      const rest = below(inside, inside === null ? path : posix.resolve(inside, path));
      return rest === null || root === null ? path : posix.join(root, rest);
    },
    inward,
    inwardUri: (uri) => {
      if (!uri.startsWith('file://')) return uri;
      try {
        return inward(fileURLToPath(uri.replace(/[?#].*$/, '')));
      } catch {
        return uri;
      }
    },
  };
};
