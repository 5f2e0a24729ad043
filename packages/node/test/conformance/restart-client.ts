// A node in small, for tests that kill one: opens an environment, starts a run, gets as far as it was told, says so and
// waits to be killed. Its argument is one JSON text.
import { createKeeperClient } from '../../src/keeper/client.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createBackendFactories, resolveBackend } from '../../src/exec/registry.ts';
import type { Backend, EnvironmentSpec, RunSpec } from '../../src/exec/backend.ts';
import type { BackendPlace, Venue } from './stage.ts';

export type RestartOrder = {
  readonly backend: string;
  readonly module: Venue['module'];
  readonly stateDir: string;
  readonly protectedPaths: readonly string[];
  readonly spec: EnvironmentSpec;
  readonly run: RunSpec;
  readonly step: 'opened' | 'launched' | 'gone' | 'reading' | 'wrote' | 'ended';
};

const order = JSON.parse(process.argv[2]!) as RestartOrder;
const { stateDir, protectedPaths } = order;
const keeper = createKeeperClient({ binary: () => findKeeperBinary() });

/** A module that makes a backend whose programs run somewhere else. */
type BackendModule = { readonly makeBackend: (place: BackendPlace, given: unknown) => Promise<Backend> };

const builtIn = (): Backend =>
  resolveBackend(createBackendFactories({ keeper, stateDir, protectedPaths, variables: {} }), {
    name: order.backend,
    options: {},
    allowed: null,
  });

const backend =
  order.module === null
    ? builtIn()
    : await ((await import(order.module.path)) as BackendModule).makeBackend({ stateDir, protectedPaths }, order.module.given);

const reached = (step: RestartOrder['step'], say: Record<string, unknown> = {}): Promise<never> | undefined => {
  if (step !== order.step) return undefined;
  process.stdout.write(`${JSON.stringify({ step, ...say })}\n`);
  // Kept alive until the kill.
  setInterval(() => undefined, 1000);
  return new Promise<never>(() => undefined);
};

const environment = await backend.open(order.spec);
await reached('opened');
const handle = await environment.start(order.run);
await reached('launched', { identity: handle.identity });
await handle.go();
await reached('gone', { identity: handle.identity });
await handle.write('first', Buffer.from('first\n'));
await reached('wrote');
for await (const { offset, bytes } of handle.output('stdout', 0)) {
  const text = Buffer.from(bytes).toString();
  if (text.includes('\n')) await reached('reading', { offset: offset + bytes.length, text });
  if (order.step === 'ended') break;
}
await handle.write('second', Buffer.from('second\n'));
await handle.closeInput();
await handle.wait();
await reached('ended');
