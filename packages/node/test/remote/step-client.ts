// A node in small, for tests that kill one at a step of a place: opens an environment, runs two scripts with a sync
// between them, closes it, and ends itself without warning at the step it was told. Its argument is one JSON text.
import type { EnvironmentSpec } from '../../src/exec/backend.ts';
import { createRemoteBackend } from '../../src/exec/remote/index.ts';
import type { PlaceStep } from '../../src/exec/remote/steps.ts';
import { createFakePlaces } from './fake-place.ts';
import { remoteParts } from './remote-parts.ts';
import { FIRST, SECOND, runScript } from './scripts.ts';

export type StepOrder = {
  readonly places: string;
  readonly stateDir: string;
  readonly spec: EnvironmentSpec;
  readonly step: PlaceStep;
};

const order = JSON.parse(process.argv[2]!) as StepOrder;
const atStep = (step: PlaceStep): void => {
  if (step === order.step) process.kill(process.pid, 'SIGKILL');
};
const backend = createRemoteBackend(createFakePlaces(order.places), remoteParts(order.stateDir, { atStep }));
const environment = await backend.open(order.spec);
await runScript(environment, FIRST);
await environment.sync();
await runScript(environment, SECOND);
await environment.close();
