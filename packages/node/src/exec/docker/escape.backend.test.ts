// What programs in a container find when they try to get out: nothing, after real attempts.
import { word } from '../../../test/conformance/stage.ts';
import { makeDockerBackend } from '../../../test/docker/backend.ts';
import { containersOf, describeWithEngine } from '../../../test/docker/engine.ts';
import { describeEscape } from '../../../test/remote/describe-escape.ts';

describeWithEngine('with an engine', (engine) => {
  const installation = `inst-${word()}`;
  describeEscape('in a container', {
    backend: ({ stateDir }) => makeDockerBackend({ socket: engine().socket, stateDir, installation }),
    closed: () => ({ engine: engine().socket, disks: '/dev/vda', 'keys of the kernel': '/proc/kcore' }),
    left: () => containersOf(engine(), installation),
  });
});
