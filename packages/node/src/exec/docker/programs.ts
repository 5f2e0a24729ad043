// Agent programs that an image has already: a node of the same version uses them there instead of carrying its own in.
import { version } from '@orrery/protocol/version';
import type { Place } from '../remote/place.ts';
import { IMAGE_LABELS } from './labels.ts';

/** Where programs are on this machine. */
export type LocalPrograms = {
  /** The folder of agent programs; null when there is none. */
  readonly programs: string | null;
  /** The folder of the Node that runs those made for it. */
  readonly node: string;
};

const isPath = (value: string | undefined): value is string => value !== undefined && /^(\/[\w.-]+)+$/.test(value);

/** What of this machine an image has under another name. Empty for images of another version: their programs are other ones. */
export const programsOfImage = (
  labels: Readonly<Record<string, string>> | null | undefined,
  { programs, node }: LocalPrograms,
): Place['mounted'] => {
  if (labels?.[IMAGE_LABELS.version] !== version) return [];
  const there = [
    { local: programs, inside: labels[IMAGE_LABELS.programs] },
    { local: node, inside: labels[IMAGE_LABELS.node] },
  ];
  return there.flatMap(({ local, inside }) => (local !== null && isPath(inside) ? [{ local, inside }] : []));
};
