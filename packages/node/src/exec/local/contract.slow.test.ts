import { describeBackend } from '../../../test/conformance/describe-backend.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { localFactory } from './index.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });

describeBackend('local', (place) => localFactory({ keeper, variables: process.env, ...place }).make({}), {
  confines: { files: false, network: false, processes: false },
  enforces: { memory: process.getuid?.() === 0, processes: process.getuid?.() === 0 },
});
