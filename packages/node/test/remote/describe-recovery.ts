// The recovery suite on a backend whose environments are places somewhere else: a node that is killed at any step of one.
// The next one has its work and leaves nothing, whether somebody comes for the environment or nobody does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend, EnvironmentSpec } from '../../src/exec/backend.ts';
import { placeSteps } from '../../src/exec/remote/steps.ts';
import { NODE, word } from '../conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../exec/sample-specs.ts';
import type { BackendModule, CrashOrder, CrashStep } from './crash-client.ts';
import { runScript } from './scripts.ts';

/** At which steps a node dies, and what becomes of its environment then. */
export type RecoverySteps = {
  /** The next node goes on with it. */
  readonly resumed: readonly CrashStep[];
  /** The next node closes it and runs nothing more in it. */
  readonly closed: readonly CrashStep[];
  /** Nobody comes for it; the step `run` is always among them. */
  readonly reclaimed: readonly CrashStep[];
};

/** What is told of a backend. */
export type RecoverySubject = {
  /** Path of the module that makes it, and the module itself. */
  readonly path: string;
  readonly module: BackendModule;
  /** Asked when a case begins: servers that tests start are there by then. */
  readonly given: () => unknown;
  /** A name of a node that no other has there. */
  readonly installation: () => string;
  /** What there is of a node's environments. */
  readonly left: (installation: string) => Promise<readonly string[]>;
  /** Default: every step, each that runs nothing, and some. */
  readonly steps?: RecoverySteps;
  /** Looks at a node that stands still at a step; answers what must be true once it is dead. */
  readonly watch?: (stateDir: string, step: CrashStep) => () => Promise<void>;
  /** Puts something there that belongs to nobody; answers the proof that it is there still. */
  readonly bystander?: () => () => void;
};

/** Steps at which nothing has run yet: the environment is opened anew. */
const BEFORE: readonly CrashStep[] = ['place-recorded', 'place-made', 'place-noted', 'stage-in', 'staged-in'];

/** Steps at which what ran is not in the checkout of this machine yet, or never was. */
const NOT_RUN: readonly CrashStep[] = [...BEFORE, 'place-open'];

const EVERY: RecoverySteps = {
  resumed: [...placeSteps, 'run'],
  closed: [...BEFORE, 'run'],
  reclaimed: ['place-made', 'staged-in', 'run', 'staged-out'],
};

const SCRIPT = 'echo new > made; rm gone; chmod 750 script; ln -s made link; echo made; sleep 1; echo more >> made';

const CLIENT = join(import.meta.dirname, 'crash-client.ts');

const makeSpec = (root: string): EnvironmentSpec => {
  const [workdir, home, scratchpad] = ['work', 'home', 'tmp'].map((name) => join(root, name)) as [string, string, string];
  for (const path of [workdir, home, scratchpad]) mkdirSync(path);
  for (const name of ['gone', 'script']) writeFileSync(join(workdir, name), 'x');
  return sampleEnvironment({
    id: `env-${word()}`,
    workdir,
    home,
    scratchpad,
    brokerSocket: join(root, 'broker.sock'),
    limits: { wallMs: 300_000, outputBytes: 1024 ** 3 },
    required: ['files', 'network', 'processes'],
  });
};

const dieAt = async ({ watch }: RecoverySubject, order: CrashOrder): Promise<void> => {
  const child = spawn(NODE, [CLIENT], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  let said = '';
  let failed = '';
  child.stderr.on('data', (bytes: Buffer) => (failed += bytes.toString()));
  child.stdin.end(JSON.stringify(order));
  for await (const bytes of child.stdout) {
    said += String(bytes);
    if (said.endsWith('\n')) break;
  }
  expect([said, failed]).toEqual([`${order.step}\n`, '']);
  const afterwards = watch?.(order.stateDir, order.step);
  child.kill('SIGKILL');
  await exit;
  await afterwards?.();
};

/** Runs every case of the suite. */
export const describeRecovery = (name: string, subject: RecoverySubject): void => {
  const { steps = EVERY } = subject;
  describe(name, () => {
    let root = '';
    let spec: EnvironmentSpec;
    let installation = '';
    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'orrery-recovery-'));
      spec = makeSpec(root);
      installation = subject.installation();
    });
    afterEach(() => rmSync(root, { recursive: true, force: true }));

    const life = (over: Partial<{ stateDir: string; installation: string }> = {}) => ({
      stateDir: join(root, 'state'),
      installation,
      ...over,
    });
    const nextNode = (over: Parameters<typeof life>[0] = {}): Backend => subject.module.backendOf(subject.given(), life(over));
    const die = (step: CrashStep): Promise<void> => {
      const { limits } = spec;
      const run = sampleRun({ args: ['-c', SCRIPT], cwd: spec.workdir, runId: 'the-run', limits });
      return dieAt(subject, { module: subject.path, given: subject.given(), ...life(), spec, run, step });
    };
    const nothingLeft = async (backend: Backend): Promise<void> => {
      const records = join(root, 'state', backend.name);
      expect(await subject.left(installation)).toEqual([]);
      expect(existsSync(records) ? readdirSync(records) : []).toEqual([]);
    };

    it.each(steps.resumed)('killed at %s: what was done is here, and nothing is there any more', async (step) => {
      await die(step);
      const backend = nextNode();
      const environment = BEFORE.includes(step) ? await backend.open(spec) : await backend.reopen(spec);
      const handle = BEFORE.includes(step) || step === 'place-removed' ? null : await environment.reattach('the-run');
      if (step === 'run') {
        // It went on without the node.
        expect((await handle!.wait()).exitCode).toBe(0);
        await handle!.finish();
      }
      expect(await environment.close()).toEqual({ lost: null });
      const work = NOT_RUN.includes(step) ? ['gone', 'script'] : ['link', 'made', 'script'];
      expect(readdirSync(spec.workdir).toSorted()).toEqual(work);
      if (work.includes('made')) expect(readFileSync(join(spec.workdir, 'made'), 'utf8')).toBe('new\nmore\n');
      expect(await backend.reclaim([])).toEqual([]);
      await nothingLeft(backend);
    });

    it.each(steps.closed)('killed at %s: it is closed without anything more running in it', async (step) => {
      await die(step);
      const backend = nextNode();
      const environment = await backend.reopen(spec);
      expect(await environment.close()).toEqual({ lost: null });
      expect(readdirSync(spec.workdir)).toContain(step === 'run' ? 'made' : 'gone');
      await nothingLeft(backend);
    });

    describe('and nobody comes for it', () => {
      it.each(steps.reclaimed)('killed at %s: it is reclaimed', async (step) => {
        await die(step);
        const backend = nextNode();
        expect(await backend.reclaim([spec.id])).toEqual([]);
        expect(await subject.left(installation)).not.toEqual([]);
        expect(await backend.reclaim([])).toEqual([spec.id]);
        await nothingLeft(backend);
      });

      it('what is another node’s stays, and what is nobody’s', async () => {
        const isThere = subject.bystander?.();
        await die('run');
        const another = subject.installation();
        const other = nextNode({ stateDir: join(root, 'other'), installation: another });
        const theirs = await other.open({ ...spec, id: `env-${word()}` });
        await runScript(theirs, 'echo theirs > file');
        const backend = nextNode();
        expect(await backend.reclaim([])).toEqual([spec.id]);
        expect(await runScript(theirs, 'cat file')).toBe('theirs\n');
        await nothingLeft(backend);
        await theirs.close();
        expect(await subject.left(another)).toEqual([]);
        isThere?.();
      });
    });
  });
};
