// Wiring only: the one place that sees everything.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openNamedEnvironments } from './boot/environments.ts';
import { createAdmission, createApi, createStreams, createUpgrades, serveApi, type ApiServer } from './api/index.ts';
import { nodeHandlers } from './boot/handlers.ts';
import { terminalRoute } from './boot/terminal-socket.ts';
import { portRoute } from './boot/upgrades.ts';
import { createPreviews } from './preview/index.ts';
import { egressHandlers } from './broker/index.ts';
import { checkInstallation } from './boot/installation.ts';
import type { NodeState } from './boot/node-state.ts';
import { checkRoom, clock, ids, openGround, openParts, openTasks, runParts, type BootOptions, type Parts } from './boot/parts.ts';
import { isScripted } from './boot/scripted.ts';
import { removeDescriptor, writeDescriptor } from './config/descriptor.ts';
import { toInstant } from './kernel/clock.ts';
import { RETENTION_MS } from './kernel/limits.ts';
import { errorFields } from './kernel/log.ts';
import { systemRandom } from './kernel/random.ts';
import { projectHandlers } from './project/index.ts';
import {
  createForwarding,
  createOpenPlaces,
  createTerminals,
  environmentHandlers,
  insideHandlers,
  type Environments,
} from './environment/index.ts';
import { queueHandlers, setPaused } from './queue/index.ts';
import { createNamedConductor, type NamedConductor } from './run/environments/conductor.ts';
import { createNamedDoor } from './run/environments/for-tasks.ts';
import { dropConversations } from './run/conversation.ts';
import { createRunLoop, type RunLoop } from './run/loop.ts';
import { tasksInStates, taskHandlers, type Tasks } from './task/index.ts';
import { tokenHandlers } from './token/index.ts';
import { usageHandlers } from './usage/index.ts';
import { salvageHandlers } from './workspace/index.ts';
import { toOrreryError } from '@orrery/protocol/errors';
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

type Door = {
  readonly state: NodeState;
  readonly tasks: Tasks;
  readonly environments: Environments;
  readonly loop: RunLoop;
  readonly stop: (now: boolean) => void;
};

const openDoor = async (parts: Parts, given: Door): Promise<ApiServer> => {
  const { store, log, tokens, projects, results, config, options, git, paths } = parts;
  const { tasks, loop, state } = given;
  const taskId = async (reference: string): Promise<string> => (await tasks.find(reference)).id;
  const places = createOpenPlaces({ store, backend: parts.backends.any, environments: given.environments, taskId });
  const forwarding = createForwarding(places);
  const usual = (key: string): boolean => config.explain(key).origin === 'default';
  const previews = createPreviews({
    ...{ places, forwarding, store, clock, random: systemRandom, log },
    port: () => config.current().listen.previewPort,
    anyPort: () => usual('listen.previewPort'),
  });
  const terminals = createTerminals({ store, clock, ids, log, places, environmentsDirectory: parts.environmentsDirectory });
  const handlers = {
    ...nodeHandlers({ ...parts, state, tasks, clock, dataDirectory: paths.data, stop: given.stop }),
    ...warmly(parts, projectHandlers(projects)),
    ...tellingOfTree(parts, taskHandlers({ store, tasks, results, clock })),
    ...environmentHandlers(given.environments),
    ...queueHandlers({ store, wake: loop.wake }),
    ...salvageHandlers({ store, git, dataDirectory: paths.data, changes: parts.changes }),
    ...tokenHandlers(tokens),
    ...usageHandlers(parts.usage),
    ...egressHandlers({ egress: parts.broker.egress, subject: places.subject }),
    ...insideHandlers({ terminals, places }),
    ...previews.handlers,
  };
  const streams = createStreams({ store, log, resolveTask: taskId });
  const admit = createAdmission({ tokens, clock });
  const app = createApi({ handlers, admit, streams, clock, log });
  const upgrades = createUpgrades({
    routes: [portRoute(forwarding), terminalRoute({ terminals, ids })],
    admit,
    log,
  });
  const { host, port } = config.current().listen;
  const listen = async (at: number): Promise<ApiServer> => {
    const api = await serveApi({ app, streams, upgrades, host, port: at, insecureBind: options.insecureBind });
    return { ...api, close: async () => void (await Promise.all([previews.close(), api.close()])) };
  };
  // Nobody asked for the usual port: when another program has it, any other will do, since clients read the descriptor.
  return listen(port).catch((thrown: unknown) =>
    usual('listen.port') && toOrreryError(thrown).code === 'conflict' ? listen(0) : Promise.reject(thrown),
  );
};

/** A project that was added gets its first checkout made ready, so that its first task need not wait for one. */
const warmly = ({ workspace, log }: Parts, handlers: ReturnType<typeof projectHandlers>): ReturnType<typeof projectHandlers> => ({
  ...handlers,
  projectAdd: async (call) => {
    const project = await handlers.projectAdd(call);
    if (project.headSha !== null)
      workspace
        .warm(project.id, project.headSha)
        .catch((thrown: unknown) => log.warn('workspace.warm.failed', errorFields(thrown)));
    return project;
  },
});

/** A task begins at a commit: whoever queues it is told how many files of the tree are no part of it, without waiting for that. */
const tellingOfTree = (
  { projects, store, log }: Parts,
  handlers: ReturnType<typeof taskHandlers>,
): ReturnType<typeof taskHandlers> => {
  const tell = async (taskId: string, projectId: string): Promise<void> => {
    const { length } = await projects.uncommitted(projectId);
    if (length === 0) return;
    const text = `${length} uncommitted ${length === 1 ? 'file of your tree is' : 'files of your tree are'} no part of this task: it begins at a commit.`;
    await store.append([{ taskId, turn: null, body: { kind: 'notice', level: 'info', text } }]);
  };
  return {
    ...handlers,
    taskAdd: async (call) => {
      const task = await handlers.taskAdd(call);
      if (task.project !== null && !task.replayed)
        tell(task.id, task.project.id).catch((thrown: unknown) => log.warn('task.tree.unread', errorFields(thrown)));
      return task;
    },
  };
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
  const running = runParts(parts, state, stopping.signal);
  const named = createNamedConductor(running);
  const loop: RunLoop = createRunLoop({ ...running, named: createNamedDoor(running, named) });
  const environments = openNamedEnvironments(parts, { checkRoom: () => checkRoom(parts, state), conductor: () => named });
  const tasks = openTasks(parts, state, () => loop);
  if ((await tasksInStates(store.read, ['running', 'queued', 'waiting'])).some(({ model }) => isScripted(model)))
    await parts.scripted.start();
  await parts.tokens.ensureOwnerToken(paths.ownerToken);
  await parts.changes.recover();
  const recovered = await loop.recover();
  await named.recover();
  const ending: Ending = createEnding(parts, { state, loop, named, stopping });
  const api = await openDoor(parts, { state, tasks, environments, loop, stop: (now) => void ending.stop(now) });
  ending.closeLater(api.close);
  state.url = api.url;
  state.phase = 'serving';
  await announce(parts, state, recovered);
  await lock.describe({ pid: process.pid, url: api.url });
  ending.closeLater(watchConfig(parts, { state, loop }));
  ending.closeLater(cleanHourly(parts));
  if (!config.current().queue.resumeAfterRestart) await store.transaction((tx) => setPaused(tx.db, true));
  loop.start();
  named.watch();
  return { url: api.url, installationId: state.installationId, stop: ending.stop, ended: ending.ended };
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

/** What was moved aside long enough ago goes, once at the start and then every hour. */
const cleanHourly = ({ workspace, config, log, conversationsDirectory }: Parts): (() => void) => {
  const clean = (): void => {
    const { asideDays, conversationDays } = config.current().retention;
    const work = [
      workspace.reclaim({ dryRun: false, days: asideDays }),
      workspace.reclaimSetups(),
      dropConversations(conversationsDirectory, clock.nowMs() - conversationDays * 24 * 60 * 60 * 1000),
    ];
    for (const one of work) one.catch((thrown: unknown) => log.warn('retention.failed', errorFields(thrown)));
  };
  clean();
  const timer = setInterval(clean, RETENTION_MS);
  return () => clearInterval(timer);
};

type Ending = Pick<RunningNode, 'stop' | 'ended'> & { closeLater(close: () => void | Promise<void>): void };

/** How a node ends: first what takes work in, then what holds it, the store and the lock last. */
const createEnding = (
  parts: Parts,
  given: {
    readonly state: NodeState;
    readonly loop: RunLoop;
    readonly named: NamedConductor;
    readonly stopping: AbortController;
  },
): Ending => {
  const { state, loop, named, stopping } = given;
  const doors: (() => void | Promise<void>)[] = [];
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stopping.abort();
    // Begun before views are dropped, so that nobody takes that for a failure.
    const letGo = [loop.detach(), named.detach()];
    parts.backends.detach();
    await Promise.all(letGo);
    for (const door of doors.toReversed()) await door();
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
