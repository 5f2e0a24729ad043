// A node in small that dies at a step of an environment in a pod. Its input is one JSON text.
import { readFileSync } from 'node:fs';
import type { EnvironmentSpec, RunSpec } from '../../src/exec/backend.ts';
import type { PlaceStep } from '../../src/exec/remote/steps.ts';
import { makePodBackend } from './backend.ts';

export type CrashOrder = {
  readonly kubeconfig: string;
  readonly stateDir: string;
  readonly instance: string;
  readonly spec: EnvironmentSpec;
  readonly run: RunSpec;
  /** `run`: while the program runs. */
  readonly step: PlaceStep | 'run';
};

const order = JSON.parse(readFileSync(0, 'utf8')) as CrashOrder;
const die = (): void => void process.kill(process.pid, 'SIGKILL');
const backend = makePodBackend({ ...order, atStep: (step) => (step === order.step ? die() : undefined) });
const environment = await backend.open(order.spec);
const handle = await environment.start(order.run);
await handle.go();
if (order.step === 'run') {
  for await (const { bytes } of handle.output('stdout', 0)) if (Buffer.from(bytes).includes('made')) die();
}
await handle.wait();
await handle.finish();
await environment.sync();
await environment.close();
throw new Error(`it never came to ${order.step}`);
