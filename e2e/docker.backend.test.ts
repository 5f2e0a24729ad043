/** Whole tasks in containers: a real node, an engine of the test's own, commands with hooks, a node that dies in the middle. */
import { importSmallImage, startTestEngine, whyNoEngine, type TestEngine } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOn, verdictOf } from './support/commands.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const IMAGE = 'orrery-test/small:1';
const TASK_MS = 120_000;

const why = whyNoEngine();
if (why !== null) process.stderr.write(`SKIPPED: ${why}; nothing here says that the backend docker works.\n`);

describe.skipIf(why !== null)('on docker', { timeout: 300_000 }, () => {
  let engine: TestEngine | null = null;
  beforeAll(async () => {
    engine = await startTestEngine();
    await importSmallImage(engine, IMAGE);
  });
  afterAll(async () => {
    await engine?.close();
  });

  const config = () => ({
    execution: { backend: 'docker', options: { docker: { socket: engine!.socket, image: IMAGE } } },
  });
  const containers = async (): Promise<unknown[]> =>
    JSON.parse((await engine!.ask('GET', '/containers/json?all=true')).text) as unknown[];
  const noContainers = (): Promise<true> =>
    waitFor('no container', async () => ((await containers()).length === 0 ? true : null), 60_000);

  it('hooks and command run in one container that knows nothing of this machine, and the work comes back', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const client = place.client(life);
    const repository = makeRepository(place, 'contained', {
      init: 'echo kept > "$HOME/of-init"',
      before: 'cat "$HOME/of-init" > before.txt',
      validation: 'test "$(cat before.txt)" = kept && test "$(cat rounds.txt | wc -l)" -ge 2',
      after: 'echo ended',
    });
    await client.call('projectAdd', { body: { source: repository } });
    const script = `echo round >> rounds.txt; printf '\\0\\377' > bytes; ln -sf bytes link; rm -f README.md
      for path in ${place.data} ${place.folder} ${repository}; do ls "$path" >/dev/null 2>&1 && echo "open: $path"; done
      id -u; grep -c : /proc/net/dev; git log --oneline | wc -l`;
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct(script, { project: repository, maxRetries: 2 });
    const events = await eventsOf(client, task.id);
    expect(verdictOf(task)).toEqual(['accepted', null]);
    expect(bodiesOf(events, 'attempt.started').map(({ backend }) => backend)).toEqual(['docker']);
    expect(textOf(events)).toMatch(/^(1000\n1\n[1-9]\d*\n){2}$/);
    const { files } = await client.call('taskDiff', { params: { id: task.id } });
    expect(files.map(({ path, status }) => `${status} ${path}`).toSorted()).toEqual([
      'added before.txt',
      'added bytes',
      'added link',
      'added rounds.txt',
      'deleted README.md',
    ]);
    expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
    await noContainers();
  });

  it('orrery down --prune removes what this installation left, known or not, and nothing else', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const { installationId } = await place.client(life).call('nodeShow');
    const make = async (name: string, installation: string): Promise<string> => {
      const labels = { 'dev.orrery.installation': installation, 'dev.orrery.environment': name };
      const body = {
        Image: IMAGE,
        Entrypoint: ['sleep', '1000'],
        StopSignal: 'SIGKILL',
        Labels: labels,
        HostConfig: { NetworkMode: 'none' },
      };
      return (JSON.parse((await engine!.ask('POST', `/containers/create?name=${name}`, body)).text) as { Id: string }).Id;
    };
    await make('env_forgotten', installationId);
    const foreign = await make('env_foreign', `${installationId}2`);
    const answer = await place.cli(['down', '--prune', '--json']);
    expect([answer.code, answer.envelope().result]).toEqual([
      0,
      {
        stopped: true,
        pruned: expect.arrayContaining([{ backend: 'docker', removed: ['env_forgotten'], problem: null }]) as unknown,
      },
    ]);
    expect((await containers()).map((one) => (one as { Id: string }).Id)).toEqual([foreign]);
    await engine!.ask('DELETE', `/containers/${foreign}?force=true`);
  });

  it('a node killed in the middle is started again, and the program has gone on and is not started twice', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const { send } = commandsOn(place, () => place.client(life));
    const id = await send('echo begun; echo x >> "$HOME/starts"; sleep 6; cat "$HOME/starts"; echo done');
    await printed(place.client(life), id, 'begun');
    await life.kill();
    expect(await containers()).toHaveLength(1);
    const second = await place.up();
    const next = place.client(second);
    expect(verdictOf(await taskEnd(next, id, TASK_MS))).toEqual(['accepted', null]);
    expect(textOf(await eventsOf(next, id))).toBe('begun\nx\ndone\n');
    expect(await settledLeftovers(place, second.pid, 60_000)).toEqual(nothing);
    await noContainers();
  });
});
