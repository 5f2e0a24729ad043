/** Whole tasks and environments on a host that one logs in to: a real node and a real sshd. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noSshHost, startSshHost, type SshHost } from '../packages/node/test/ssh/host.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { agentNames } from './support/agents.ts';
import { placeOfTest } from './support/place.ts';
import { look, previewsOn } from './support/preview.ts';
import { describeRemoteEnvironments } from './support/remote-environments.ts';
import { describeRemoteParting, describeRemoteSessions } from './support/remote-sessions.ts';
import { describeRemoteTasks, type RemoteSubject } from './support/remote-tasks.ts';
import { screenOn } from './support/screen.ts';
import { viewerOf } from './support/viewer.ts';
import { printed, taskEnd, waitFor } from './support/wait.ts';

/** Serves a page, with what any host has. */
const PAGES = `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 3456, ReuseAddr => 1); while ($c = $s->accept) { while (<$c>) { last if /^\\r?$/ } print $c "HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\nConnection: close\\r\\n\\r\\nmine"; close $c }'`;

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
  describeRemoteSessions(subject);
  describeRemoteParting(subject, agentNames);

  it('programs there are looked at: their full screen takes what is typed, their pages are shown as a preview', async (context) => {
    const place = placeOfTest({ ...config(), listen: { previewPort: 0 } }, context);
    const life = await place.up();
    const client = place.client(life);
    const { id, at } = await screenOn(() => client)('stty -echo; stty size; read a; echo "got $a"', 'ssh');
    const viewer = viewerOf(place, life, at);
    await viewer.seen(/\d+ \d+/);
    viewer.type('words\n');
    await viewer.seen(/got words/);
    expect(verdictOf(await taskEnd(client, id))).toEqual(['accepted', null]);
    const { send } = commandsOn(place, () => client);
    const serving = await send(`echo serves; ${PAGES}`);
    await printed(client, serving, 'serves');
    const { origin, cookie } = await previewsOn(place).entered(serving, '3456');
    const page = () => look(`${origin}/`, { cookie });
    expect(await waitFor('the page', async () => ((await page()).body === 'mine' ? 'mine' : null))).toBe('mine');
    await client.call('taskCancel', { params: { id: serving }, body: {} });
    await taskEnd(client, serving);
    expect((await page()).status).not.toBe(200);
  });

  it('the backends of a node are listed with what the host gives, as tried there', async (context) => {
    const place = placeOfTest(config(), context);
    const client = place.client(await place.up());
    const { items } = await client.call('backendList', {});
    const ssh = items.find(({ name }) => name === 'ssh');
    expect([ssh?.usable, ssh?.guarantees.filter(({ held }) => !held)]).toEqual([true, []]);
  });
});
