/** Whole tasks and environments on a host that one logs in to: a real node and a real sshd. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noSshHost, startSshHost, type SshHost } from '../packages/node/test/ssh/host.ts';
import { placeOfTest } from './support/place.ts';
import { describeRemoteEnvironments } from './support/remote-environments.ts';
import { describeRemoteTasks, type RemoteSubject } from './support/remote-tasks.ts';

const why = noSshHost();
if (why !== null) process.stderr.write(`SKIPPED: ${why}; nothing here says that the backend ssh works.\n`);

describe.skipIf(why !== null)('on a host', { timeout: 300_000 }, () => {
  let host: SshHost | null = null;
  beforeAll(async () => {
    host = await startSshHost();
  });
  afterAll(async () => {
    await host?.close();
  });

  const config = () => ({
    execution: { backend: 'ssh', options: { ssh: { host: 'box-root', config: host!.config } } },
  });
  /** What lies there of environments, and every keeper. */
  const there = (): Promise<string[]> => {
    const folder = join(host!.home('root'), '.local/share/orrery');
    const keepers = host!.processes().filter((line) => line.includes('orrery-keeper'));
    return Promise.resolve([...(existsSync(folder) ? [folder] : []), ...keepers]);
  };
  const subject: RemoteSubject = {
    backend: 'ssh',
    config,
    there,
    look: ['grep -c : /proc/net/dev', '1\\n'],
    server: `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => shift, ReuseAddr => 1); while ($c = $s->accept) { print $c $ARGV[0]; close $c }' "$1" "$2"`,
  };
  describeRemoteTasks(subject);
  describeRemoteEnvironments(subject);

  it('the backends of a node are listed with what the host gives, as tried there', async (context) => {
    const place = placeOfTest(config(), context);
    const client = place.client(await place.up());
    const { items } = await client.call('backendList', {});
    const ssh = items.find(({ name }) => name === 'ssh');
    expect([ssh?.usable, ssh?.guarantees.filter(({ held }) => !held)]).toEqual([true, []]);
  });
});
