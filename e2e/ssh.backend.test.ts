/** Whole tasks on a host that one logs in to: a real node, a real sshd, hooks, an agent program, a node that dies in the middle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noSshHost, startSshHost, type SshHost } from '../packages/node/test/ssh/host.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const TASK_MS = 120_000;

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
  const nothingThere = (): Promise<true> =>
    waitFor(
      'nothing on the host',
      () => Promise.resolve(existsSync(join(host!.home('root'), '.local/share/orrery')) ? null : (true as const)),
      60_000,
    );
  const programsThere = (): string[] => host!.processes().filter((line) => line.includes('orrery-keeper'));

  it('hooks and command run there, know nothing of this machine, and the work comes back', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const client = place.client(life);
    const repository = makeRepository(place, 'elsewhere', {
      init: 'echo kept > "$HOME/of-init"',
      before: 'cat "$HOME/of-init" > before.txt',
      validation: 'test "$(cat before.txt)" = kept && test "$(cat rounds.txt | wc -l)" -ge 2',
      after: 'echo ended',
    });
    await client.call('projectAdd', { body: { source: repository } });
    const script = `echo round >> rounds.txt; printf '\\0\\377' > bytes; ln -sf bytes link; rm -f README.md
      for path in ${place.data} ${place.folder} ${repository} /root/.ssh; do ls "$path" >/dev/null 2>&1 && echo "open: $path"; done
      grep -c : /proc/net/dev; git log --oneline | wc -l`;
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct(script, { project: repository, maxRetries: 2 });
    const events = await eventsOf(client, task.id);
    expect(verdictOf(task)).toEqual(['accepted', null]);
    expect(bodiesOf(events, 'attempt.started').map(({ backend }) => backend)).toEqual(['ssh']);
    expect(textOf(events)).toMatch(/^(1\n[1-9]\d*\n){2}$/);
    const { files } = await client.call('taskDiff', { params: { id: task.id } });
    expect(files.map(({ path, status }) => `${status} ${path}`).toSorted()).toEqual([
      'added before.txt',
      'added bytes',
      'added link',
      'added rounds.txt',
      'deleted README.md',
    ]);
    expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
    await nothingThere();
  });

  it('a node killed in the middle is started again, and the program has gone on and is not started twice', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const { send } = commandsOn(place, () => place.client(life));
    const id = await send('echo begun; echo x >> "$HOME/starts"; sleep 6; cat "$HOME/starts"; echo done');
    await printed(place.client(life), id, 'begun');
    await life.kill();
    expect(programsThere().length).toBeGreaterThan(0);
    const second = await place.up();
    const next = place.client(second);
    expect(verdictOf(await taskEnd(next, id, TASK_MS))).toEqual(['accepted', null]);
    expect(textOf(await eventsOf(next, id))).toBe('begun\nx\ndone\n');
    expect(await settledLeftovers(place, second.pid, 60_000)).toEqual(nothing);
    await nothingThere();
    expect(programsThere()).toEqual([]);
  });

  it('the backends of a node are listed with what the host gives, as tried there', async (context) => {
    const place = placeOfTest(config(), context);
    const client = place.client(await place.up());
    const { items } = await client.call('backendList', {});
    const ssh = items.find(({ name }) => name === 'ssh');
    expect([ssh?.usable, ssh?.guarantees.filter(({ held }) => !held)]).toEqual([true, []]);
  });
});
