// A node in small that comes to a step of an environment in a place, says so and stands still until it is killed. Its
// input is one JSON text. A module makes the backend, since it is another process than the test.
import { readFileSync } from 'node:fs';
import type { Backend, EnvironmentSpec, RunSpec } from '../../src/exec/backend.ts';
import type { AtPlaceStep, PlaceStep } from '../../src/exec/remote/steps.ts';

/** One life of a node: what it keeps and who it is. */
export type NodeLife = { readonly stateDir: string; readonly installation: string; readonly atStep?: AtPlaceStep };

/** What a module of a backend exports; `given` is whatever can be written as JSON. */
export type BackendModule = { readonly backendOf: (given: unknown, life: NodeLife) => Backend };

/** A step, or while the program runs. */
export type CrashStep = PlaceStep | 'run';

export type CrashOrder = {
  readonly module: string;
  readonly given: unknown;
  readonly stateDir: string;
  readonly installation: string;
  readonly spec: EnvironmentSpec;
  readonly run: RunSpec;
  readonly step: CrashStep;
};

const order = JSON.parse(readFileSync(0, 'utf8')) as CrashOrder;

/** Synchronous, like a crash: nothing after it happens. */
const reached = (step: CrashStep): void => {
  if (step !== order.step) return;
  process.stdout.write(`${step}\n`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

const { backendOf } = (await import(order.module)) as BackendModule;
const { stateDir, installation } = order;
const backend = backendOf(order.given, { stateDir, installation, atStep: reached });
const environment = await backend.open(order.spec);
const handle = await environment.start(order.run);
await handle.go();
for await (const { bytes } of handle.output('stdout', 0)) if (Buffer.from(bytes).includes('made')) reached('run');
await handle.wait();
await handle.finish();
await environment.sync();
await environment.close();
throw new Error(`it never came to ${order.step}`);
