import type { Place } from './place.ts';

/** Where everything lies in a place; all below its root, but for a keeper program that its provider brought. */
export type PlaceLayout = {
  readonly root: string;
  readonly work: string;
  readonly home: string;
  readonly tmp: string;
  readonly provided: string;
  readonly carried: string;
  readonly runs: string;
  readonly keeper: string;
  readonly brokerSocket: string;
};

/** The layout of a place. */
export const layoutOf = ({ root, keeper }: Pick<Place, 'root' | 'keeper'>): PlaceLayout => ({
  root,
  work: `${root}/work`,
  home: `${root}/home`,
  tmp: `${root}/tmp`,
  provided: `${root}/provided`,
  carried: `${root}/carried`,
  runs: `${root}/runs`,
  keeper: keeper ?? `${root}/keeper/orrery-keeper`,
  brokerSocket: `${root}/broker.sock`,
});
