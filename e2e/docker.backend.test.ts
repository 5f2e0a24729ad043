/** Whole tasks and environments in containers: a real node and an engine of the test's own. */
import { dirname } from 'node:path';
import process from 'node:process';
import { importSmallImage, startTestEngine, whyNoEngine, type TestEngine } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeOfTest } from './support/place.ts';
import { describeRemoteEnvironments } from './support/remote-environments.ts';
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
