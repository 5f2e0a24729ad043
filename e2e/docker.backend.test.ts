/** Whole tasks and environments in containers: a real node and an engine of the test's own. */
import { dirname } from 'node:path';
import process from 'node:process';
import { importSmallImage, startTestEngine, whyNoEngine, type TestEngine } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentNames } from './support/agents.ts';
import { placeOfTest } from './support/place.ts';
import { screenOn } from './support/screen.ts';
import { viewerOf, viewerWhenThere } from './support/viewer.ts';
import { taskEnd } from './support/wait.ts';
import { describeRemoteEnvironments } from './support/remote-environments.ts';
import { describeRemoteParting, describeRemoteSessions } from './support/remote-sessions.ts';
import { describeRemoteTasks, type RemoteSubject } from './support/remote-tasks.ts';

const IMAGE = 'orrery-test/small:1';

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
    execution: {
      backend: 'docker',
      options: { docker: { socket: engine!.socket, image: IMAGE, toolPaths: [dirname(dirname(process.execPath))] } },
    },
  });
  const containers = async (): Promise<unknown[]> =>
    JSON.parse((await engine!.ask('GET', '/containers/json?all=true')).text) as unknown[];
  const subject: RemoteSubject = {
    backend: 'docker',
    config,
    there: containers,
    look: ['id -u; grep -c : /proc/net/dev', '1000\\n1\\n'],
    server: `exec '${process.execPath}' -e "require('node:net').createServer((s) => s.end('$2')).listen($1, '127.0.0.1')"`,
  };
  describeRemoteTasks(subject);
  describeRemoteEnvironments(subject);
  describeRemoteSessions(subject);
  describeRemoteParting(subject, agentNames);

  it('a full screen has the size of who looks and a terminal of its own, and is found again after the node was killed', async (context) => {
    const place = placeOfTest(config(), context);
    let life = await place.up();
    let client = place.client(life);
    const script =
      "trap 'echo size $(stty size </dev/tty)' WINCH; tty; read x </dev/tty; echo got $x; i=0; while :; do i=$((i+1)); echo n $i; sleep 0.1; done";
    const { id, at } = await screenOn(() => client)(script, 'docker');
    const one = viewerOf(place, life, at);
    await one.seen(/\/dev\/pts\/\d+/);
    one.type('it\n');
    await one.seen(/got it/);
    one.send({ type: 'size', columns: 91, rows: 33 });
    await one.seen(/size 33 91/);
    await life.kill();
    life = await place.up();
    client = place.client(life);
    const again = await viewerWhenThere(place, life, { ...at, query: `stdout=${one.until}` });
    again.send({ type: 'size', columns: 70, rows: 20 });
    await again.seen(/size 20 70/);
    expect(again.from).toBe(one.until);
    // Both together are what one viewer would have seen without the interruption.
    const numbers = [...`${one.text()}${again.text()}`.matchAll(/^n (\d+)\r$/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, before) => before + 1));
    await client.call('taskCancel', { params: { id }, body: {} });
    await taskEnd(client, id);
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
});
