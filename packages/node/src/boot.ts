// Wiring only: the one place that sees everything.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openAttached, watchAttached } from './boot/attached.ts';
import { openDoor } from './boot/door.ts';
import { openNamedEnvironments } from './boot/environments.ts';
import { openPush, watchPush } from './boot/push.ts';
import { cleanHourly, type RetentionParts } from './boot/retention.ts';
import { createSessionPruning } from './boot/session-pruning.ts';
import { openTalking, sweepOrphans } from './boot/sessions.ts';
import { checkInstallation } from './boot/installation.ts';
import type { NodeState } from './boot/node-state.ts';
import { clock, ids, openGround, openParts, openTasks, runParts, type BootOptions, type Parts } from './boot/parts.ts';
import { checkRoom } from './boot/room.ts';
import { isScripted } from './boot/scripted.ts';
import { removeDescriptor, writeDescriptor } from './config/descriptor.ts';
import { toInstant } from './kernel/clock.ts';
import { errorFields } from './kernel/log.ts';
import { setPaused } from './queue/index.ts';
import { createNamedConductor, type NamedConductor } from './run/environments/conductor.ts';
import { createNamedDoor } from './run/environments/for-tasks.ts';
import { createRunLoop, type RunLoop } from './run/loop.ts';
import { tasksInStates } from './task/index.ts';
import type { SessionsConductor } from './run/sessions/index.ts';
import { liveSessions } from './session/index.ts';
import { version } from '@orrery/protocol/version';

/** A running node. */
export type RunningNode = {
  readonly url: string;
  readonly installationId: string;
  /** Ends the node: after its running tasks, or at once, and then programs run on under their keepers. Repeatable. */
  stop(now: boolean): Promise<void>;
  /** Resolves when the node has ended. */
  readonly ended: Promise<void>;
};

/** What takes work, and what conducts it. */
const openWork = (parts: Parts, state: NodeState, stopping: AbortSignal) => {
  const room = (): void => checkRoom(parts, state);
  const running = runParts(parts, state, stopping);
  const named = createNamedConductor(running);
  const loop: RunLoop = createRunLoop({ ...running, named: createNamedDoor(running, named) });
  const environments = openNamedEnvironments(parts, { checkRoom: room, conductor: () => named });
  const attached = openAttached(parts);
  const push = openPush(parts, stopping);
  const talk = openTalking(parts, {
    attached,
    running: { ...running, environments: named },
    environments,
    checkRoom: room,
    wakeTasks: loop.wake,
  });
  return { named, loop, environments, attached, push, ...talk, tasks: openTasks(parts, state, () => loop) };
};

/** Starts a node: what a dead one was doing is known again before the first request is answered. */
export const bootNode = async (options: BootOptions): Promise<RunningNode> => {
  const parts = await openParts(await openGround(options));
  const { store, paths, lock, config, installation } = parts;
  await checkInstallation(store, { id: installation, dataDirectory: paths.data });
  const state: NodeState = {
    installationId: installation,
    generation: ids('run'),
    startedAtMs: clock.nowMs(),
    dataDirectory: paths.data,
    url: '',
    phase: 'recovering',
    needRestart: [],
  };
  const stopping = new AbortController();
  const work = openWork(parts, state, stopping.signal);
  const { loop, named, talking } = work;
  await startScripted(parts);
  await parts.tokens.ensureOwnerToken(paths.ownerToken);
  await parts.changes.recover();
  const recovered = await loop.recover();
  await named.recover();
  await talking.recover();
  const ending: Ending = createEnding(parts, { state, loop, named, talking, stopping });
  const api = await openDoor(parts, { ...work, state, stopping: stopping.signal, stop: (now) => void ending.stop(now) });
  ending.closeLater(api.close);
  state.url = api.url;
  state.phase = 'serving';
  await announce(parts, state, recovered);
  await lock.describe({ pid: process.pid, url: api.url });
  ending.closeLater(watchConfig(parts, { state, loop }));
  ending.closeLater(cleanHourly(retentionOf(parts, { ...work, ...state })));
  ending.closeLater(watchAttached(work.attached, parts));
  ending.closeLater(watchPush(work.push, parts));
  ending.closeLater(parts.screens.thread.close);
  if (!config.current().queue.resumeAfterRestart) await store.transaction((tx) => setPaused(tx.db, true));
  loop.start();
  named.watch();
  talking.watch();
  return { url: api.url, installationId: state.installationId, stop: ending.stop, ended: ending.ended };
};

/** What goes after some days. */
const retentionOf = (
  parts: Parts,
  { environments, startedAtMs }: Pick<ReturnType<typeof openWork>, 'environments'> & Pick<NodeState, 'startedAtMs'>,
): RetentionParts => ({
  ...parts,
  environments,
  sweepAttachments: () => sweepOrphans(parts),
  pruneSessions: createSessionPruning(parts, { startedAtMs }),
});

/** The bundled model is there before what was going when the node ended asks it again. */
const startScripted = async ({ store, scripted }: Parts): Promise<void> => {
  const going = [...(await tasksInStates(store.read, ['running', 'queued', 'waiting'])), ...(await liveSessions(store.read))];
  if (going.some(({ model }) => isScripted(model))) await scripted.start();
};

/** Clients look where the environment points; a data directory named in the file alone is announced there too. */
const descriptorFiles = ({ paths, options }: Parts): readonly string[] => [
  ...new Set([paths.descriptor, options.paths.descriptor]),
];

/** Tells clients where the node is, and everybody what it found when it started. */
const announce = async (parts: Parts, state: NodeState, recovered: Awaited<ReturnType<RunLoop['recover']>>): Promise<void> => {
  const { paths } = parts;
  const descriptor = {
    installationId: state.installationId,
    generation: state.generation,
    pid: process.pid,
    url: state.url,
    tokenFile: paths.ownerToken,
    version,
    startedAt: toInstant(state.startedAtMs),
  };
  for (const file of descriptorFiles(parts)) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeDescriptor(file, descriptor);
  }
  await parts.store.append([
    { taskId: null, turn: null, body: { kind: 'node.started', version } },
    { taskId: null, turn: null, body: { kind: 'node.recovered', ...recovered } },
  ]);
};

/** A change holds for what begins after it; what needs a restart is remembered and shown by `orrery doctor`. */
const watchConfig = (
  { broker, config, log }: Parts,
  { state, loop }: { readonly state: NodeState; readonly loop: RunLoop },
): (() => void) =>
  config.watch({
    change: ({ needRestart }) => {
      state.needRestart = [...new Set([...state.needRestart, ...needRestart])];
      loop.wake();
      broker.egress.recheck().catch((thrown: unknown) => log.error('egress.recheck.failed', errorFields(thrown)));
    },
    problem: (error) => log.warn('config.problem', { code: error.code }),
  });

type Ending = Pick<RunningNode, 'stop' | 'ended'> & { closeLater(close: () => void | Promise<void>): void };

/** How a node ends: first what takes work in, then what holds it, the store and the lock last. */
const createEnding = (
  parts: Parts,
  given: {
    readonly state: NodeState;
    readonly loop: RunLoop;
    readonly named: NamedConductor;
    readonly talking: SessionsConductor;
    readonly stopping: AbortController;
  },
): Ending => {
  const { state, loop, named, talking, stopping } = given;
  const doors: (() => void | Promise<void>)[] = [];
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stopping.abort();
    // Begun before views are dropped, so that nobody takes that for a failure.
    const letGo = [loop.detach(), named.detach(), talking.detach()];
    parts.backends.detach();
    await Promise.all(letGo);
    for (const door of doors.toReversed()) await door();
    await parts.programLogins.close();
    await parts.broker.close();
    await parts.scripted.close();
    await parts.workspace.close();
    await parts.starter.close();
    for (const file of descriptorFiles(parts)) await removeDescriptor(file, state.generation);
    await parts.store.close();
    parts.lock.release();
    ended.resolve();
  };
  return {
    ended: ended.promise,
    closeLater: (door) => doors.push(door),
    stop: async (now) => {
      if (state.phase !== 'draining') {
        state.phase = 'draining';
        await parts.store
          .append([{ taskId: null, turn: null, body: { kind: 'node.stopping' } }])
          .catch((thrown: unknown) => parts.log.warn('node.stopping.unsaid', errorFields(thrown)));
      }
      if (!now) await loop.drain();
      closing ??= close().catch((thrown: unknown) => ended.reject(thrown));
      await ended.promise;
    },
  };
};
