// An environment that outlives its place: where files outlive it too, the next thing that is asked of it makes another place.
import { OrreryError } from '@orrery/protocol/errors';
import { createMutex } from '../../kernel/mutex.ts';
import type { Environment, EnvironmentSpec, Handle } from '../backend.ts';
import { isPlaceGone } from './patience.ts';

/** An environment as one place shows it. */
export type PlaceSight = {
  readonly environment: Environment;
  /** Ends what serves the place. What runs there is still told how it ended. */
  readonly leave: () => void;
  readonly letGo: () => void;
};

/** What healing needs. */
export type HealingParts = {
  readonly spec: Pick<EnvironmentSpec, 'id' | 'keepsHome'>;
  readonly first: PlaceSight;
  /** Another place with the files of the one that is gone; null when they went with it. */
  readonly again: () => Promise<PlaceSight | null>;
};

const cannotHeal = ({ id, keepsHome }: HealingParts['spec'], thrown: OrreryError): OrreryError =>
  new OrreryError('keeper_lost', thrown.message, {
    rule: 'Its files went with it; what was carried out of it before is here.',
    fix: keepsHome === true ? `orrery env stop ${id} && orrery env start ${id}` : 'Run it again.',
    ...(thrown.details === null ? {} : { details: thrown.details }),
    cause: thrown,
  });

/** A start that was cut off told its keeper nothing: no program ran, and what it left is cleared away. */
const startedAgain = async (environment: Environment, runId: string, start: () => Promise<Handle>): Promise<Handle> => {
  const left = await environment.reattach(runId);
  await left?.finish();
  return start();
};

/**
 * The environment of `first`, which goes on in another place when that one is certainly gone and its files are not. Programs
 * that ran in it have ended with it, and say so. Where the files went too, everything asked of it is `keeper_lost` with
 * what makes it work again.
 */
export const createHealing = ({ spec, first, again }: HealingParts): Environment => {
  const turns = createMutex();
  const left: PlaceSight[] = [];
  let now = first;

  const heal = async (failed: PlaceSight, thrown: OrreryError): Promise<void> => {
    // Somebody else met the same, and has healed it.
    if (now !== failed) return;
    const other = await again();
    if (other === null) throw cannotHeal(spec, thrown);
    failed.leave();
    left.push(failed);
    now = other;
  };

  const asking = async <T>(first: (it: Environment) => Promise<T>, second = first): Promise<T> => {
    const asked = now;
    try {
      return await first(asked.environment);
    } catch (thrown) {
      if (!isPlaceGone(thrown)) throw thrown;
      await turns.run('', () => heal(asked, thrown as OrreryError));
      return second(now.environment);
    }
  };

  const starting = (runId: string, start: (it: Environment) => Promise<Handle>): Promise<Handle> =>
    asking(start, (it) => startedAgain(it, runId, () => start(it)));

  return {
    ...first.environment,
    start: (run) => starting(run.runId, (it) => it.start(run)),
    startScript: (script) => starting(script.runId, (it) => it.startScript(script)),
    reattach: (runId) => now.environment.reattach(runId),
    provide: (name, content) => asking((it) => it.provide(name, content)),
    writeHomeFile: (path, content) => asking((it) => it.writeHomeFile(path, content)),
    sync: () => asking((it) => it.sync()),
    describe: (run) => now.environment.describe(run),
    describeScript: (script) => now.environment.describeScript(script),
    forward: (port) => now.environment.forward(port),
    stats: () => now.environment.stats(),
    close: async () => {
      const closed = await now.environment.close();
      for (const sight of left.splice(0)) sight.letGo();
      return closed;
    },
  };
};
