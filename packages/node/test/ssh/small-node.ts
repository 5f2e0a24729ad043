// A node in small that is killed: opens an environment on a host, runs a program, brings back what it did and closes; at
// the moment it was told it says so and waits for its end. Its argument is one JSON text.
import type { EnvironmentSpec } from '../../src/exec/backend.ts';
import { sshFactory } from '../../src/exec/ssh/index.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createStarter } from '../../src/starter/index.ts';
import { sampleRun } from '../exec/sample-specs.ts';
import type { SshOptions } from './places.ts';
import { sshParts } from './places.ts';

export type SmallNodeOrder = {
  readonly options: SshOptions;
  readonly stateDir: string;
  readonly spec: EnvironmentSpec;
  /** A step of remote places, or `running`. */
  readonly step: string;
};

const order = JSON.parse(process.argv[2]!) as SmallNodeOrder;

/** Synchronous, like a crash: nothing after it happens. */
const reached = (step: string): void => {
  if (step !== order.step) return;
  process.stdout.write(`${step}\n`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

const spawner = createStarter({ binary: () => findKeeperBinary() });
const backend = sshFactory(sshParts(order.stateDir, { spawner, atStep: reached })).make(order.options);
const environment = await backend.open(order.spec);
const handle = await environment.start(
  sampleRun({
    args: ['-c', 'echo made > made; echo ready; sleep 1'],
    cwd: environment.workdir,
    runId: 'the-run',
    limits: order.spec.limits,
  }),
);
await handle.go();
for await (const { bytes } of handle.output('stdout', 0)) if (bytes.length > 0) reached('running');
await handle.wait();
await handle.finish();
await environment.sync();
await environment.close();
