// One node for a table of crash rows: a row lets the life that it finds die, sees the next one go on with the work, and
// leaves that one to the row after it. N rows take N+1 lives and one place.
import type { Client } from '@orrery/client';
import { afterAll } from 'vitest';
import { asked, died } from './dying.ts';
import type { Life } from './life.ts';
import { openPlaceOf, type Place } from './place.ts';

/** What a row works with. */
export type Ground = {
  readonly place: Place;
  life(): Life;
  client(): Client;
  /** Lets the life die at a point that the work leads to, and starts the next one, which dies nowhere. */
  dies(point: string, work: (client: Client) => Promise<unknown>): Promise<void>;
  /** For a row that does something between two lives. */
  ends(point: string, work: (client: Client) => Promise<unknown>): Promise<void>;
  begins(): Promise<void>;
};

const groundOf = async (place: Place): Promise<Ground> => {
  let life: Life;
  let client: Client;
  const begins = async (): Promise<void> => {
    life = await place.up();
    client = place.client(life);
  };
  const ends: Ground['ends'] = async (point, work) => {
    life.killAt(point);
    await asked(work(client));
    await died(life, point);
  };
  await begins();
  return {
    ...{ place, begins, ends, life: () => life, client: () => client },
    dies: async (point, work) => {
      await ends(point, work);
      await begins();
    },
  };
};

/**
 * Rows of one table. `prepare` readies a place before its first life. A row that fails keeps its place to itself: the next
 * one is given a new one, so that nothing of what went wrong, or stayed, is there.
 */
export const crashRows = (
  prepare: (place: Place) => Promise<void>,
): ((row: (ground: Ground) => Promise<void>) => Promise<void>) => {
  const places: Place[] = [];
  let free: Ground | null = null;
  afterAll(async () => {
    for (const place of places) await place.close();
  });
  const open = async (): Promise<Ground> => {
    const place = openPlaceOf();
    places.push(place);
    await prepare(place);
    return groundOf(place);
  };
  return async (row) => {
    const ground = free ?? (await open());
    free = null;
    await row(ground);
    free = ground;
  };
};
