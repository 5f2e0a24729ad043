// What programs behind the walls on a host find when they try to get out: nothing, after real attempts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeEscape } from '../../../test/remote/describe-escape.ts';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { backendOn, optionsFor, sshParts } from '../../../test/ssh/places.ts';
import { leftOn } from '../../../test/ssh/stage.ts';

const ACCOUNT = 'someone';

describe.skipIf(noSshHost() !== null)('behind the walls on a host', () => {
  let host: SshHost;
  beforeAll(async () => {
    host = await startSshHost({ accounts: () => [{ name: ACCOUNT, uid: 54_321, shell: '/bin/bash' }] });
    for (const account of ['root', ACCOUNT]) writeFileSync(join(host.home(account), 'letter'), 'x', { mode: 0o644 });
  });
  afterAll(() => host?.close());

  /** As the account sees it. */
  const homeOf = (account: string): string => (account === 'root' ? '/root' : host.home(account));
  for (const account of ['root', ACCOUNT])
    describeEscape(`of ${account}`, {
      backend: ({ stateDir, data }) => backendOn(host, sshParts(stateDir, { protectedPaths: [data] }), optionsFor(host, account)),
      closed: () => ({ 'home there': homeOf(account), tmp: '/tmp' }),
      roots: () => [homeOf(account)],
      left: () => Promise.resolve(leftOn(host, account)),
    });
});
