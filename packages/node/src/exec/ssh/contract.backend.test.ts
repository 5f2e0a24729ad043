import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUPS_BY_USER } from '../../../test/conformance/describe-backend.ts';
import { describeRemote } from '../../../test/remote/describe-remote.ts';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { optionsFor } from '../../../test/ssh/places.ts';
import * as module from '../../../test/ssh/ssh-provider.ts';
import { leftOn } from '../../../test/ssh/stage.ts';

const ACCOUNT = 'someone';
const path = join(import.meta.dirname, '../../../test/ssh/ssh-provider.ts');
const confines = { files: true, network: true, processes: true };

describe.skipIf(noSshHost() !== null)('with a host to log in to', () => {
  let host: SshHost;
  beforeAll(async () => {
    host = await startSshHost({ accounts: () => [{ name: ACCOUNT, uid: 54_321, shell: '/bin/bash' }] });
  });
  afterAll(() => host?.close());

  describeRemote(
    'ssh as root, the broker forwarded',
    { path, module, given: () => ({ ...optionsFor(host), broker: 'forward' }) },
    { confines, enforces: { memory: true, processes: true } },
  );

  describeRemote(
    'ssh as a user, the broker by a relay',
    { path, module, given: () => ({ ...optionsFor(host, ACCOUNT), broker: 'relay' }) },
    { confines, enforces: { memory: false, processes: false }, groups: GROUPS_BY_USER },
  );

  it('nothing of all this is left on the host', () => {
    expect([leftOn(host), leftOn(host, ACCOUNT)]).toEqual([[], []]);
    expect(host.processes().filter((line) => line.includes('orrery-keeper'))).toEqual([]);
  });
});
