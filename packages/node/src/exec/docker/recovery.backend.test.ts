// A node that is killed at any step of an environment in a container: the next one has its work and leaves nothing.
import { join } from 'node:path';
import { word } from '../../../test/conformance/stage.ts';
import * as module from '../../../test/docker/crash-backend.ts';
import { containersOf, describeWithEngine } from '../../../test/docker/engine.ts';
import { describeRecovery } from '../../../test/remote/describe-recovery.ts';

describeWithEngine('with an engine', (engine) => {
  describeRecovery('a node that dies', {
    path: join(import.meta.dirname, '../../../test/docker/crash-backend.ts'),
    module,
    given: () => engine().socket,
    installation: () => `inst-${word()}`,
    left: (installation) => containersOf(engine(), installation),
  });
});
