import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainRepository, writeFiles, commitAll, gitIn } from '@orrery/testkit';
import { taskCreate } from '@orrery/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeMachine, createLife } from '../../test/fake-machine.ts';
import { openGitNode, type GitNode } from '../../test/git-node.ts';
import { createFakePlaces, type FakePlaces } from '../../test/remote/fake-place.ts';
import { remoteParts } from '../../test/remote/remote-parts.ts';
import { lineHarness, runParts, waitForEnd } from '../../test/run-parts.ts';
import { projectDoor, workspaceDoor } from './run-doors.ts';
import { createRemoteBackend } from '../exec/remote/index.ts';
import type { Harness } from '../harness/harness.ts';
import { createTasks, type Tasks } from '../task/index.ts';
import { mirrorPath } from '../workspace/model.ts';
import type { RunParts } from '../run/doors.ts';
import { createRunLoop } from '../run/loop.ts';

/** Says what it was asked, works a while and until it is enough, commits one file and leaves another. */
const AGENT = `
  read prompt; echo "asked: $prompt"
  n=0; while [ $n -lt 150 ]; do echo "line $n"; sleep 0.02; n=$((n+1)); done
  while [ ! -e "$HOME/enough" ]; do sleep 0.05; done
  echo committed > made; rm -f old; git add -A
  git -c user.name=agent -c user.email=agent@localhost commit -q -m 'by the agent'
  echo loose > loose; echo done`;

/** The history that the checkout borrows is whole there, and nothing of it is changed. */
const VALIDATION =
  'git fsck --connectivity-only && git log --format=%s && git status --short && cat made loose && test ! -e old\n';

const agent: Harness = {
  ...lineHarness,
  launch: (turn) => ({ ...lineHarness.launch(turn), command: 'sh', args: ['-c', AGENT], input: Buffer.from(`${turn.prompt}\n`) }),
};

type World = {
  readonly node: GitNode;
  readonly places: FakePlaces;
  readonly parts: RunParts;
  readonly tasks: Tasks;
  readonly projectId: string;
};

const nodes: GitNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

/** Tasks of one project. */
const tasksOf = (node: GitNode, project: { readonly id: string; readonly name: string; readonly path: string }): Tasks =>
  createTasks({
    store: node.store,
    clock: node.clock,
    ids: node.ids,
    resolveProject: async () => project,
    resolveEnvironment: async () => null,
    projectsById: async () => new Map([[project.id, project]]),
    admit: async () => ({ harness: agent.id, backend: 'fake', model: null }),
    canCarryOn: () => true,
    isConversationKept: () => true,
    withAgent: async (intent) => ({ intent, kept: null }),
    pullRequestsOf: async () => new Map(),
    checkRoom: () => undefined,
    wake: () => undefined,
    accountLimit: async () => null,
    cancelRunning: () => undefined,
  });

const openWorld = async (): Promise<World> => {
  const node = await openGitNode();
  nodes.push(node);
  const { root } = plainRepository(node.folder);
  writeFiles(root, { old: 'old', '.orrery/hooks/validation.sh': VALIDATION });
  commitAll(root, 'with a hook');
  const { id: projectId } = await node.projects.add({ source: root });
  const directory = join(node.folder, 'run');
  await mkdir(directory);
  const made = await runParts({
    store: node.store,
    directory,
    machine: createFakeMachine(() => ({ stdout: '', exitCode: 0 })),
    life: createLife(),
    harness: agent,
    generation: 'one',
  });
  const places = createFakePlaces(join(node.folder, 'places'));
  const backend = createRemoteBackend(places, remoteParts(join(node.dataDirectory, 'keeper')));
  const parts: RunParts = {
    ...made.parts,
    projects: projectDoor(node.projects),
    workspace: workspaceDoor(node.workspace, node.results),
    backend: () => backend,
    backends: () => [backend],
  };
  const tasks = tasksOf(node, { id: projectId, name: 'demo', path: root });
  return { node, places, parts, tasks, projectId };
};

/** Runs one task to its end, with something happening to its place meanwhile. */
const runTask = async ({ node, parts, tasks }: World, meanwhile: (taskId: string) => Promise<void>) => {
  const task = await tasks.add(taskCreate.parse({ prompt: 'make it', project: 'demo' }));
  const loop = createRunLoop(parts);
  loop.start();
  await Promise.all([waitForEnd(node.store, task.id), meanwhile(task.id)]);
  await loop.drain();
  const events = await node.store.ownEvents({ owner: task.id, after: 0, limit: 5000 });
  return {
    task: await tasks.show(task.id),
    rows: rowsOf(
      events.map(({ body }) => body),
      task.id,
    ),
  };
};

type Row = { readonly kind: string; readonly stage?: string; readonly text?: string };

/** Events without what differs from task to task. Output of a script comes in pieces as it was read: one text of it counts. */
const rowsOf = (bodies: readonly object[], taskId: string): Row[] => {
  const text = JSON.stringify(bodies.map((body) => ({ ...body, tookMs: 0 })));
  const rows = JSON.parse(text.replaceAll(taskId, 'TASK').replaceAll(/\b[0-9a-f]{12}\b/g, 'SHA')) as Row[];
  const joined: Row[] = [];
  for (const row of rows) {
    const last = joined.at(-1);
    if (row.kind === 'stage.output' && last?.kind === 'stage.output' && last.stage === row.stage)
      joined[joined.length - 1] = { ...row, text: `${last.text}${row.text}` };
    else joined.push(row);
  }
  return joined;
};

const said = async ({ node }: World, taskId: string, text: string): Promise<boolean> =>
  JSON.stringify(await node.store.ownEvents({ owner: taskId, after: 0, limit: 5000 })).includes(text);

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Lets the agent of the one open place come to its end. */
const enough = async ({ places }: World): Promise<void> => {
  for (const id of await places.list()) await writeFile(join(places.rootOf(id), 'home/enough'), '');
};

const filesOf = ({ node }: World, projectId: string, ref: string): string[] =>
  gitIn(mirrorPath(node.dataDirectory, projectId), 'ls-tree', '-r', '--name-only', ref).trim().split('\n');

describe('a task in a place', () => {
  it('whose connections are cut twenty times in the middle of a turn has the same rows as one that is not', async () => {
    const whole = await openWorld();
    const uncut = await runTask(whole, async (taskId) => {
      while (!(await said(whole, taskId, 'line 0'))) await pause(20);
      await enough(whole);
    });
    expect([uncut.task.state, uncut.task.reason]).toEqual(['accepted', null]);
    expect(uncut.task.result?.validation?.output).toContain('by the agent\nwith a hook');
    const world = await openWorld();
    let cuts = 0;
    const cut = await runTask(world, async (taskId) => {
      while (!(await said(world, taskId, 'line 0'))) await pause(20);
      while (cuts < 20) {
        if (world.places.cut() > 0) cuts += 1;
        await pause(25);
      }
      await enough(world);
    });
    expect([cuts, cut.task.state]).toEqual([20, 'accepted']);
    expect(cut.rows).toEqual(uncut.rows);
    const { result } = cut.task;
    expect([result?.commits, result?.filesChanged, result?.resultRef === null]).toEqual([2, 3, false]);
    expect([await world.places.list(), filesOf(world, world.projectId, result?.resultRef ?? '')]).toEqual([
      [],
      expect.arrayContaining(['loose', 'made']),
    ]);
  }, 240_000);

  it('whose place is taken away in the middle is interrupted, says what is missing, and keeps what was brought back', async () => {
    const world = await openWorld();
    const { task } = await runTask(world, async (taskId) => {
      while (!(await said(world, taskId, 'line 3'))) await pause(20);
      for (const id of await world.places.list()) await world.places.sweep(id);
      world.places.cut();
    });
    expect(task.state).toBe('interrupted');
    expect(task.reason).toMatch(/place of the program is gone.*brought back/);
  }, 240_000);
});
