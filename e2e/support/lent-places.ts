// Glossary. A lent place is one that test after test of a group works in, each alone in it, with the node that the test before
// left running there: the life that one test checks with is the one that the next test kills. So a table of deaths needs one
// life for each row, and one more, rather than two for each row.
import { afterAll, type TestContext } from 'vitest';
import type { Life } from './life.ts';
import { openPlaceOf, type Place } from './place.ts';

/** A place, and a word that no test before had in it: for names of repositories, request ids and markers. */
export type LentPlace = Place & { readonly row: string };

/**
 * Lends places to the tests of one file or group; those that run at the same time have one each. A test that fails has its
 * place closed, so that the next one begins in a new one. `up` answers the life that runs, with its kill point set anew;
 * other options of a life hold for those that `up` starts.
 */
export const lentPlaces = (config: () => object = () => ({})): ((context: TestContext) => LentPlace) => {
  const every: Place[] = [];
  const idle: Place[] = [];
  let rows = 0;
  afterAll(() => Promise.all(every.map((place) => place.close())));
  return (context) => {
    const place = idle.pop() ?? lasting(openPlaceOf(config()));
    if (!every.includes(place)) every.push(place);
    context.onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await place.close();
      else idle.push(place);
    });
    rows += 1;
    return { ...place, row: `row${rows}` };
  };
};

/** A place whose life stays until it dies. */
const lasting = (place: Place): Place => {
  let running: Life | null = null;
  return {
    ...place,
    up: async (options = {}) => {
      if (running !== null) {
        running.killAt(options.killAt ?? null);
        return running;
      }
      const life = await place.up(options);
      running = life;
      void life.ended.then(() => (running = running === life ? null : running));
      return life;
    },
  };
};
