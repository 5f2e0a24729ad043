// Makes the parts of a node from the lowest ring up, each from its arguments.

import { join, resolve } from 'node:path';
import type { OrreryError } from '@orrery/protocol/errors';
import type { ProgramLogins } from '../program-login/index.ts';
import type { Broker } from '../broker/index.ts';
import { openBroker, openProviders } from './broker.ts';
import { loadConfig, type Config } from '../config/config.ts';
import { installationId } from '../config/descriptor.ts';
import { takeDataLock, type DataLock } from '../config/data-lock.ts';
import { makeDirectories, pathsIn, type NodePaths } from '../config/paths.ts';
import { createSecrets, type Secrets } from '../config/secrets.ts';
import { createPortAllocator, createScreens, findNamed, type PortAllocator, type Screens } from '../environment/index.ts';
import { createBackendFactories } from '../exec/registry.ts';
import { createRemover, type Remover } from '../files/remove.ts';
import { createGit, type Git } from '../git/run.ts';
import type { Harness } from '../harness/harness.ts';
import { createHarnessPrograms, type HarnessPrograms } from '../harness/install.ts';
import { needsProgram, notInstalled } from '../harness/program.ts';
import { builtinHarnesses, createHarnessRegistry, type HarnessRegistry } from '../harness/registry.ts';
import { withDeclared } from '../harness/turn/declared.ts';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createKeeperClient } from '../keeper/client.ts';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { createMutex } from '../kernel/mutex.ts';
import { createLog, errorFields, openLogFile, type Log } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { createProjects, createResults, type Projects, type Results } from '../project/index.ts';
import { pullRequestsOf } from '../pull-request/index.ts';
import type { ConductorParts } from '../run/doors.ts';
import { accountLimitText } from '../run/account-limits.ts';
import { isConversationKept } from '../run/conversation.ts';
import type { RunLoop } from '../run/loop.ts';
import { patientStore } from '../run/patient-store.ts';
import { createStarter, type Starter } from '../starter/index.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createTasks, type Tasks } from '../task/index.ts';
import { createTokens, type Tokens } from '../token/index.ts';
import { createUsage, type Usage } from '../usage/index.ts';
import {
  createRepositoryChanges,
  createWorkspace,
  type Archives,
  type RepositoryChanges,
  type Workspace,
} from '../workspace/index.ts';
import { openArchives } from './archives.ts';
import { openSkills, withAgent } from './agents.ts';
import { createBackends, type Backends } from './backends.ts';
import { killAt } from './kill-at.ts';
import type { NodeState } from './node-state.ts';
import {
  checkCommand,
  checkGoal,
  checkInteractive,
  environmentRemover,
  projectDoor,
  settleAttempt,
  trustedProject,
  tokenDoor,
  workspaceDoor,
} from './run-doors.ts';
import { openProgramLogins } from './program-logins.ts';
import { checkRoom } from './room.ts';
import { createScripted, isScripted, type Scripted } from './scripted.ts';

/** How a node is started. */
export type BootOptions = {
  readonly paths: NodePaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly insecureBind: boolean;
  /** Whether `paths.data` was named by the command line or the environment. */
  readonly dataNamed: boolean;
  /** The store cannot go on: the process has to end, the next start recovers. */
  readonly onStoreLost: (error: OrreryError) => void;
  /** Adapters in the place of the built-in ones; absent: those. */
  readonly harnesses?: readonly Harness[];
};

export const clock = systemClock;
const random = systemRandom;
export const ids = createIds({ clock, random });

/** The data directory of the file holds when neither the command line nor the environment named one. */
const settledPaths = ({ paths, dataNamed }: BootOptions, config: Config): NodePaths => {
  const { data } = config.current();
  return data === null || dataNamed ? paths : pathsIn({ data: resolve(paths.config, data), configFile: paths.configFile });
};

/** What is there before anything is served. */
export type Ground = {
  readonly options: BootOptions;
  readonly paths: NodePaths;
  /** Id of this installation. */
  readonly installation: string;
  readonly log: Log;
  readonly lock: DataLock;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly starter: Starter;
  readonly git: Git;
};

export const openGround = async (options: BootOptions): Promise<Ground> => {
  const { env, flags } = options;
  const config = await loadConfig({ file: options.paths.configFile, env, flags });
  const paths = settledPaths(options, config);
  await makeDirectories(paths, process.getuid?.() ?? 0);
  const lock = await takeDataLock({ lock: paths.lock, data: paths.data, pid: process.pid });
  const log = createLog({ sink: openLogFile({ path: paths.log }), clock });
  const secrets = createSecrets({ file: paths.secrets, keyFile: paths.secretKey, env, random, clock });
  const store = await openStore({ file: paths.database, clock, log, onLost: options.onStoreLost });
  const starter = createStarter({ binary: () => findKeeperBinary({ explicit: env['ORRERY_KEEPER'] }) });
  const installation = await installationId(paths.installation, ids);
  return { options, paths, installation, log, lock, config, secrets, store, starter, git: createGit({ spawner: starter }) };
};

/** What the slices and rings below `run` come to. */
export type Parts = Ground & {
  readonly backends: Backends;
  readonly harnesses: HarnessRegistry;
  readonly programs: HarnessPrograms;
  readonly programLogins: ProgramLogins;
  readonly workspace: Workspace;
  readonly projects: Projects;
  readonly results: Results;
  readonly changes: RepositoryChanges;
  readonly scripted: Scripted;
  readonly broker: Broker;
  readonly usage: Usage;
  readonly tokens: Tokens;
  readonly environmentsDirectory: string;
  readonly conversationsDirectory: string;
  readonly ports: PortAllocator;
  readonly archives: Archives;
  readonly screens: Screens;
};

export const openParts = async (ground: Ground): Promise<Parts> => {
  const { paths, store, git, log, options, starter, installation } = ground;
  const keeperProgram = options.env['ORRERY_KEEPER'];
  const programs = options.env['ORRERY_PROGRAMS'] ?? join(paths.data, 'programs');
  const keeper = createKeeperClient({
    binary: () => findKeeperBinary({ explicit: keeperProgram }),
    spawner: starter,
  });
  const factories = createBackendFactories({
    keeper,
    stateDir: join(paths.data, 'keeper'),
    protectedPaths: [paths.data, paths.config],
    variables: options.env,
    elsewhere: { installation, git, spawner: starter, keeperProgram, mountable: [programs] },
  });
  const workspace = createWorkspace({ dataDirectory: paths.data, store, git, clock, random, ids, log });
  const projects = createProjects({ store, git, dataDirectory: paths.data, clock, ids, workspace });
  const changes = createRepositoryChanges({ store, git, clock, log });
  const scripted = createScripted(paths.data);
  return {
    ...ground,
    ...(await openCalls(ground, { programs, scripted })),
    backends: createBackends(factories, ground.config.current),
    workspace,
    projects,
    changes,
    results: createResults({ store, git, dataDirectory: paths.data, changes }),
    scripted,
    usage: createUsage({ store }),
    tokens: createTokens({ store, clock, random, ids, log }),
    environmentsDirectory: join(paths.data, 'environments'),
    conversationsDirectory: join(paths.data, 'conversations'),
    ports: createPortAllocator({ store, random }),
    archives: openArchives(ground),
    screens: createScreens(),
  };
};

/** Agent programs, their logins, and the broker that puts those on. */
const openCalls = async (
  ground: Ground,
  { programs: directory, scripted }: { readonly programs: string; readonly scripted: Scripted },
): Promise<Pick<Parts, 'harnesses' | 'programs' | 'programLogins' | 'broker'>> => {
  const harnesses = openHarnesses(ground);
  const programs = createHarnessPrograms({ directory, own: (id) => harnesses.get(id).own?.command ?? null });
  const providers = openProviders(ground, scripted);
  const programLogins = openProgramLogins(ground, { harnesses, programs, providers, clock });
  const broker = await openBroker(ground, { clock, random, ids, providers, payment: programLogins.payment });
  return { harnesses, programs, programLogins, broker };
};

export const openTasks = (parts: Parts, state: NodeState, loop: () => RunLoop): Tasks => {
  const settle = settleAttempt(parts);
  const withScreen = parts.harnesses.list.filter(({ screen }) => screen !== null).map(({ id }) => id);
  return createTasks({
    store: parts.store,
    clock,
    ids,
    resolveProject: parts.projects.resolve,
    resolveEnvironment: (reference) => findNamed(parts.store.read, reference),
    projectsById: parts.projects.byIds,
    withAgent: withAgent(parts),
    admit: async (intent, projectId) => {
      const settings = await settle({ intent, projectId, projectFile: null });
      const harness = parts.harnesses.get(settings.harness);
      checkCommand(harness.id, intent);
      checkGoal(harness, intent);
      if (intent.interactive === true) checkInteractive(harness, { intent, withScreen });
      await parts.backends.get(settings.backend).preflight(settings.required);
      if (needsProgram(harness) && (await parts.programs.installed(harness.id)) === null) throw notInstalled(harness);
      if (isScripted(settings.model)) await parts.scripted.start();
      return { harness: harness.id, backend: settings.backend, model: settings.model };
    },
    pullRequestsOf: (of) => pullRequestsOf(parts.store, 'task', of),
    canCarryOn: (harness) => parts.harnesses.get(harness).conversations !== null,
    isConversationKept: (taskId) => isConversationKept(parts.conversationsDirectory, taskId),
    accountLimit: (task) => accountLimitText({ store: parts.store, clock, harness: parts.harnesses.get }, task),
    checkRoom: () => checkRoom(parts, state),
    wake: () => loop().wake(),
    cancelRunning: (taskId) => loop().cancel(taskId),
  });
};

/** The harnesses of this version, or those that a test brings, and what the configuration declares. */
const openHarnesses = ({ config, options }: Ground): HarnessRegistry =>
  createHarnessRegistry(withDeclared(options.harnesses ?? builtinHarnesses, config.current().harnesses));

/** Where what is made for runs lies. */
const placesOf = ({ environmentsDirectory, conversationsDirectory, paths, broker }: Parts) => ({
  environmentsDirectory,
  conversationsDirectory,
  memoryDirectory: join(paths.data, 'memory'),
  brokerSocket: broker.socketPath,
});

/** What removes directories of environments, behind everybody's back. */
const openRemover = ({ paths, environmentsDirectory, log }: Parts, stopped: AbortSignal): Remover => {
  const remover = createRemover({
    root: paths.data,
    trash: join(environmentsDirectory, '.trash'),
    protectedPaths: async () => [],
    onFailure: (thrown) => log.warn('environment.remove.failed', errorFields(thrown)),
    stopping: stopped,
  });
  // What a node that ended had not deleted yet. A trash that cannot be read is looked at again at the next start.
  remover.sweep().catch((thrown: unknown) => log.warn('environment.sweep.failed', errorFields(thrown)));
  return remover;
};

export const runParts = (parts: Parts, state: NodeState, stopped: AbortSignal): ConductorParts => {
  const { broker, backends, harnesses, store, log } = parts;
  const remover = openRemover(parts, stopped);
  return {
    store: patientStore(store, { clock, log, signal: stopped }),
    clock,
    ids,
    log,
    projects: projectDoor(parts.projects),
    workspace: workspaceDoor(parts.workspace, parts.results),
    tokens: tokenDoor(broker, parts.scripted),
    backend: backends.get,
    backends: backends.all,
    harness: harnesses.get,
    program: parts.programs.installed,
    skillFiles: openSkills(parts).files,
    usageOf: parts.usage.ofTask,
    gatewayFailure: broker.lastFailure,
    forgetFailure: broker.forgetFailure,
    modelQuietMs: () => parts.config.current().gateway.quietMs,
    budgetRefused: broker.budgetRefused,
    ask: broker.ask,
    settle: settleAttempt(parts),
    trustedProject: trustedProject(parts),
    imageRules: () => parts.config.current().execution,
    allocatePorts: parts.ports.allocate,
    openScreen: parts.screens.open,
    removeEnvironment: environmentRemover(store, remover),
    removeOwned: async (directory) => void (await remover.remove(directory)),
    ...placesOf(parts),
    memoryTurns: createMutex(),
    asRoot: process.getuid?.() === 0,
    atKillPoint: killAt(parts.options.env['ORRERY_TEST_KILL_AT']),
    queue: () => parts.config.current().queue,
    generation: state.generation,
  };
};
