// What tests of projects and checkouts start from: a data directory with a store, and the slices on it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryEvent } from '@orrery/protocol';
import { createGit } from '../src/git/run.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createIds } from '../src/kernel/ids.ts';
import { createLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createProjects, createResults } from '../src/project/index.ts';
import { startInlineWriter } from '../src/store/sqlite/inline-writer.ts';
import { openStore } from '../src/store/sqlite/open-store.ts';
import { createRepositoryChanges, createWorkspace } from '../src/workspace/index.ts';
import type { WorkspaceParts } from '../src/workspace/service.ts';
import { openStarter } from './both-spawners.ts';

type GitNodeOptions = Pick<WorkspaceParts, 'warmSlots' | 'lookup'> & {
  readonly environment?: NodeJS.ProcessEnv;
  readonly memoryBytes?: number;
};

/** Opens a node's projects and checkouts in a fresh folder; `close` takes everything away. */
export const openGitNode = async ({ environment = process.env, memoryBytes, ...given }: GitNodeOptions = {}) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-node-')));
  const dataDirectory = join(folder, 'data');
  const home = join(folder, 'home');
  for (const made of [dataDirectory, home]) mkdirSync(made);
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => lines.push(line), close: () => undefined }, clock: systemClock });
  const clock = { ...systemClock };
  const store = await openStore({ file: join(dataDirectory, 'orrery.db'), clock, log, startWriter: startInlineWriter });
  const events: OrreryEvent[] = [];
  store.subscribe((some) => events.push(...some));
  // As the node itself starts Git.
  const starter = openStarter();
  const own = { ...environment, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const git = createGit({ environment: own, spawner: starter, memoryBytes });
  const ids = createIds({ clock, random: systemRandom });
  const makeWorkspace = () => createWorkspace({ dataDirectory, store, git, clock, random: systemRandom, ids, log, ...given });
  const workspace = makeWorkspace();
  const projects = createProjects({ store, git, dataDirectory, clock, ids, workspace });
  const changes = createRepositoryChanges({ store, git, clock, log });
  const results = createResults({ store, git, dataDirectory, changes });
  const close = async (): Promise<void> => {
    await workspace.settled();
    await starter.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    folder,
    dataDirectory,
    home,
    store,
    git,
    clock,
    ids,
    log,
    lines,
    events,
    workspace,
    makeWorkspace,
    projects,
    changes,
    results,
    close,
  };
};

export type GitNode = Awaited<ReturnType<typeof openGitNode>>;
