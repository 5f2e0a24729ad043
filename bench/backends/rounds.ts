// Sessions of a backend and of the bare tool in turns, until there were enough or the time is over.
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend, Environment, EnvironmentSpec } from '../../packages/node/src/exec/backend.ts';
import type { AtPlaceStep } from '../../packages/node/src/exec/remote/steps.ts';
import { diskUse } from '../../packages/node/src/files/disk-use.ts';
import { timed } from '../benchmark.ts';
import type { TimeLimit } from '../time-limit.ts';
import type { BareTool, Ground, Subject } from './subject.ts';
import { NOTHING, changeScript } from './tree.ts';

/** What was measured on one side: milliseconds, and bytes of the disk. */
export type Side = {
  readonly open: number[];
  readonly exec: number[];
  readonly close: number[];
  readonly closeChanged: number[];
  readonly staged: number[];
  readonly disk: number[];
};

/** Both sides, filled while it goes: what there is when the time is over counts. */
export type Measured = { readonly ours: Side; readonly bare: Side };

const emptySide = (): Side => ({ open: [], exec: [], close: [], closeChanged: [], staged: [], disk: [] });

export const nothingMeasured = (): Measured => ({ ours: emptySide(), bare: emptySide() });

/** Programs of one session, after the first. */
const PROGRAMS = 5;
const LIMITS = { wallMs: 120_000, outputBytes: 1024 ** 3 };

/** Hears how long bringing the files took. */
export const createStagingWatch = (): { readonly atStep: AtPlaceStep; take(): number | null } => {
  let from = 0;
  let took: number | null = null;
  return {
    atStep: (step) => {
      if (step === 'stage-in') from = performance.now();
      if (step === 'staged-in') took = performance.now() - from;
    },
    take: () => {
      const taken = took;
      took = null;
      return taken;
    },
  };
};

const runProgram = async (environment: Environment, command: string, args: readonly string[]): Promise<void> => {
  const handle = await environment.start({
    command,
    args,
    cwd: environment.workdir,
    grants: [],
    env: {},
    envPassthrough: [],
    stdio: 'piped',
    limits: LIMITS,
    label: 'a measurement',
    runId: `run-${randomUUID().slice(0, 12)}`,
  });
  await handle.go();
  const end = await handle.wait();
  if (end.exitCode !== 0) throw new Error(`${command} ended with ${JSON.stringify(end)}`);
  await handle.finish();
};

const environmentIn = (folder: string, { workdir, backend }: { workdir: string; backend: Backend }): EnvironmentSpec => {
  const [home, scratchpad] = ['home', 'tmp'].map((name) => join(folder, name)) as [string, string];
  for (const path of [home, scratchpad]) mkdirSync(path, { recursive: true });
  return {
    id: `env-${randomUUID().slice(0, 12)}`,
    taskId: 'task',
    workdir,
    home,
    scratchpad,
    grants: [],
    readOnly: [],
    ports: { connect: [], bind: [], egress: [] },
    limits: LIMITS,
    required: backend.defaultRequired,
    brokerSocket: join(folder, 'broker.sock'),
    project: null,
    image: null,
  };
};

type Session = { readonly into: Side; readonly change: string | null };

/** What both sides do once they are open; the same programs, in the same order. */
const repeat = async (into: Side, one: () => Promise<void>): Promise<void> => {
  for (let at = 0; at < PROGRAMS; at++) into.exec.push(await timed(one));
};

const ourSession = async (
  { backend, diskBytes }: Subject,
  ground: Ground,
  { into, change, staged }: Session & { readonly staged: () => number | null },
): Promise<void> => {
  const folder = join(ground.directory, 'environment');
  const spec = environmentIn(folder, { workdir: ground.ours, backend });
  const from = performance.now();
  const environment = await backend.open(spec);
  try {
    const took = staged();
    if (took !== null) into.staged.push(took);
    const once = (): Promise<void> => runProgram(environment, NOTHING[0], NOTHING.slice(1));
    await once();
    into.open.push(performance.now() - from);
    await repeat(into, once);
    if (change === null)
      into.disk.push((await diskBytes(environment)) + (await diskUse(join(ground.parts.stateDir, backend.name, spec.id))));
    else await runProgram(environment, 'sh', ['-ec', changeScript(change)]);
    const closing = change === null ? into.close : into.closeChanged;
    closing.push(await timed(() => environment.close()));
  } catch (thrown) {
    await environment.close().catch(() => undefined);
    throw thrown;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const bareSession = async (tool: BareTool, { into, change }: Session): Promise<void> => {
  const from = performance.now();
  const session = await tool.open();
  if (session.stagedMs !== null) into.staged.push(session.stagedMs);
  const once = (): Promise<void> => session.exec();
  await once();
  into.open.push(performance.now() - from);
  await repeat(into, once);
  if (change === null) into.disk.push(await session.diskBytes());
  else await session.change(changeScript(change));
  const closing = change === null ? into.close : into.closeChanged;
  closing.push(await timed(() => session.close(change !== null)));
};

/** What one run of a subject is given. */
export type Turns = {
  readonly rounds: number;
  readonly limit: TimeLimit;
  readonly staged: () => number | null;
  readonly into: Measured;
};

/** Measures: in each round a session with nothing changed and one with changes, each side in turn. One round before is not counted. */
export const measureSubject = async (subject: Subject, ground: Ground, { rounds, limit, staged, into }: Turns): Promise<void> => {
  const turn = async ({ ours, bare }: Measured, change: string | null): Promise<void> => {
    await limit.hold('an environment', ourSession(subject, ground, { into: ours, change, staged }));
    await limit.hold('the bare tool', bareSession(subject.bare, { into: bare, change }));
  };
  await turn(nothingMeasured(), null);
  let longestMs = 0;
  for (let round = 0; round < rounds; round++) {
    if (limit.left() < longestMs * 1.2) throw new Error(`there was time for ${round} of ${rounds} rounds`);
    const tookMs = await timed(async () => {
      await turn(into, null);
      await turn(into, randomUUID());
    });
    longestMs = Math.max(longestMs, tookMs);
  }
};
