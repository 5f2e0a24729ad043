// What a path of this machine is called in a place.

/** A directory or file of this machine, and where the same is in the place. */
export type PathPair = { readonly local: string; readonly inside: string };

/** The paths of one environment. */
export type PathMap = {
  /** The path in the place, or null for a path that is not of this environment. */
  path(local: string): string | null;
  /** A text with every path of this environment in it, whole and by itself, as it is called in the place. */
  text(value: string): string;
};

const escapeForPattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** What may stand before a path in a text, and after one: a path within a longer name is another path. */
const BEFORE = String.raw`(?<![^\s"'\x60=:,;(){}\[\]<>|&])`;
const AFTER = String.raw`(?![^\s"'\x60=:,;(){}\[\]<>|&/])`;

/** The map of `pairs`; of two that fit, the longer one counts. */
export const createPathMap = (pairs: readonly PathPair[]): PathMap => {
  const ordered = pairs.filter(({ local, inside }) => local !== inside).toSorted((a, b) => b.local.length - a.local.length);
  const all = pairs.toSorted((a, b) => b.local.length - a.local.length);
  const pattern =
    ordered.length === 0
      ? null
      : new RegExp(`${BEFORE}(?:${ordered.map(({ local }) => escapeForPattern(local)).join('|')})${AFTER}`, 'g');
  const insideOf = new Map(pairs.map(({ local, inside }) => [local, inside]));
  return {
    path: (local) => {
      const pair = all.find((one) => local === one.local || local.startsWith(`${one.local}/`));
      return pair === undefined ? null : `${pair.inside}${local.slice(pair.local.length)}`;
    },
    text: (value) => (pattern === null ? value : value.replaceAll(pattern, (local) => insideOf.get(local) ?? local)),
  };
};
