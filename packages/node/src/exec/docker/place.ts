// One container as a place.
import { OrreryError } from '@orrery/protocol/errors';
import { measurePlace } from '../remote/measure.ts';
import type { Place, PlaceState } from '../remote/place.ts';
import type { Engine } from './engine.ts';
import { explainEnd } from './explain.ts';
import { LABELS } from './labels.ts';
import { startProcess } from './process.ts';
import { PLACE_FOLDER, PLACE_ROOT } from './request.ts';
import type { EngineContainer, EngineStats } from './wire.ts';

const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Of an image's variables only these are taken: what the image itself needs, no more. */
const TAKEN = ['PATH', 'LANG'];

/** The variables of programs by those of an image. */
export const placeVariables = (ofImage: readonly string[]): Record<string, string> => {
  const pairs = ofImage.map((entry) => entry.split(/=(.*)/s, 2) as [string, string?]);
  const taken = pairs.filter(([name, value]) => TAKEN.includes(name) && value !== undefined && value !== '');
  return { PATH: STANDARD_PATH, LANG: 'C.UTF-8', SHELL: '/bin/sh', ...(Object.fromEntries(taken) as Record<string, string>) };
};

/** What is known of a container when it is made or found. */
export type ContainerPlace = {
  readonly engine: Engine;
  readonly container: EngineContainer;
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly mounted: Place['mounted'];
};

const LOST = ['removing', 'dead'];

/** Starts a container that stands still: its files are there, and what ran in it is known to have ended by its keepers' records. */
const revive = async (engine: Engine, container: EngineContainer): Promise<PlaceState> => {
  const { Id: id, State: state } = container;
  if (state.Status === 'running') return { state: 'running' };
  if (LOST.includes(state.Status)) return { state: 'gone', why: `its container is ${state.Status}` };
  if (state.Status === 'paused') return { state: 'unknown', why: `its container is paused (docker unpause ${id.slice(0, 12)})` };
  await engine.start(id);
  return { state: 'running' };
};

/** Whether the container is there and runs; one that stands still is started again. */
export const lookAt = async (engine: Engine, id: string): Promise<PlaceState> => {
  try {
    const container = await engine.inspect(id);
    if (container === null) return { state: 'gone', why: 'its container was removed' };
    return await revive(engine, container);
  } catch (thrown) {
    return { state: 'unknown', why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
};

/** Memory by the engine's measures; the cache that the kernel can give back is not counted. Null when it is not measured. */
export const memoryOf = ({ memory_stats: memory }: EngineStats): number | null => {
  const cache = memory?.stats?.inactive_file ?? memory?.stats?.total_inactive_file ?? 0;
  const usage = memory?.usage;
  return usage === undefined ? null : Math.max(0, usage - cache);
};

/** What it changed in its own layer, and what is in the volume that it has where that cannot be written. */
const diskOf = (sized: Pick<EngineContainer, 'SizeRw' | 'Mounts'> | null, below: number | null): number | null => {
  const own = sized?.SizeRw ?? null;
  const apart = (sized?.Mounts ?? []).some(({ Type, Destination }) => Type === 'volume' && Destination === PLACE_FOLDER);
  if (!apart || own === null) return own;
  return below === null ? null : own + below;
};

/** The place of a container. */
export const createContainerPlace = ({ engine, container, owner, mounted }: ContainerPlace): Place => {
  const id = container.Id;
  const user = `${owner.uid}:${owner.gid}`;
  const exec: Place['exec'] = async (command) => {
    try {
      return await startProcess({ engine, containerId: id, user }, command);
    } catch (thrown) {
      // A container that stands still refuses commands, and can be started again: its files are there.
      if (!(thrown instanceof OrreryError) || thrown.code !== 'backend_unavailable') throw thrown;
      const before = await engine.inspect(id);
      if (before === null || before.State.Status === 'running') throw thrown;
      const { state } = await lookAt(engine, id);
      if (state !== 'running') throw thrown;
      return startProcess({ engine, containerId: id, user }, command);
    }
  };
  return {
    ref: { container: id, image: container.Config.Labels?.[LABELS.image] ?? '' },
    identity: { containerId: id },
    root: PLACE_ROOT,
    owner,
    variables: placeVariables(container.Config.Env ?? []),
    mounted,
    exec,
    state: () => lookAt(engine, id),
    boundsMemory: (container.HostConfig?.Memory ?? 0) > 0,
    explain: () => explainEnd({ engine, containerId: id, user }),
    stats: async () => {
      // The engine counts everything that runs there, keepers and the container's first process too.
      const [measures, sized, { processes, diskBytes: below }] = await Promise.all([
        engine.stats(id),
        engine.inspect(id, true),
        measurePlace({ exec }, PLACE_ROOT),
      ]);
      return { processes, memoryBytes: memoryOf(measures), diskBytes: diskOf(sized, below) };
    },
    remove: () => engine.removeContainer(id),
    detach: () => undefined,
  };
};
