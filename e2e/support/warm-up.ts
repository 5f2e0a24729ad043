import { openPlaceOf } from './place.ts';

/** Starts and stops one node first: it writes what it compiled, which nodes that are killed never do. */
export const setup = async (): Promise<void> => {
  const place = openPlaceOf({});
  try {
    const life = await place.up();
    await place.cli(['status', '--json']);
    await life.stop();
  } finally {
    await place.close();
  }
};
