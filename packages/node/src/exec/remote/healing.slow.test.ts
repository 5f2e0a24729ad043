import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collect } from '../../../test/conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import type { Environment } from '../backend.ts';
import { createRemoteBackend } from './index.ts';

const stage = ({ keeps }: { readonly keeps: boolean }) => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-healing-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [workdir = '', home = '', scratchpad = ''] = ['work', 'home', 'tmp'].map((name) => join(root, name));
  for (const path of [workdir, home, scratchpad]) mkdirSync(path);
  const brokerSocket = join(root, 'broker.sock');
  const limits = { wallMs: 120_000, outputBytes: 1024 ** 3 };
  const spec = { ...sampleEnvironment({ workdir, home, scratchpad, brokerSocket, limits }), keepsHome: true };
  const places = createFakePlaces(join(root, 'places'), { keeps });
  return { spec, places, backend: createRemoteBackend(places, remoteParts(join(root, 'state'))) };
};

const started = async (environment: Environment, runId: string, script: string) => {
  const handle = await environment.start(sampleRun({ args: ['-c', script], cwd: environment.workdir, runId }));
  await handle.go();
  return handle;
};

const said = async (environment: Environment, runId: string, script: string): Promise<string> => {
  const handle = await started(environment, runId, script);
  const [output] = await Promise.all([collect(handle, 'stdout'), handle.wait()]);
  await handle.finish();
  return output.toString();
};

describe('an environment whose place is taken away while it is open', () => {
  it('goes on in another place with its files, once for all who ask; what ran there has ended, and says so', async () => {
    const { spec, places, backend } = stage({ keeps: true });
    const environment = await backend.open(spec);
    await said(environment, 'first', 'echo one > file; echo state > "$HOME/state"');
    const running = await started(environment, 'running', 'sleep 1000');
    const ended = running.wait();
    ended.catch(() => undefined);
    places.lose(spec.id);
    const look = 'cat file "$HOME/state"';
    expect(await Promise.all([said(environment, 'a', look), said(environment, 'b', look)])).toEqual([
      'one\nstate\n',
      'one\nstate\n',
    ]);
    await expect(ended).rejects.toMatchObject({ code: 'keeper_lost' });
    places.lose(spec.id);
    await environment.sync();
    expect(readFileSync(join(spec.workdir, 'file'), 'utf8')).toBe('one\n');
    expect(await said(environment, 'again', 'echo two >> file; cat file')).toBe('one\ntwo\n');
    expect(await environment.close()).toEqual({ lost: null });
    expect(readFileSync(join(spec.workdir, 'file'), 'utf8')).toBe('one\ntwo\n');
  }, 120_000);

  it('says what makes it work again when its files went too', async () => {
    const { spec, places, backend } = stage({ keeps: false });
    const environment = await backend.open(spec);
    await said(environment, 'first', 'echo one > file');
    await places.sweep(spec.id);
    for (const runId of ['a', 'b'])
      await expect(said(environment, runId, 'true')).rejects.toMatchObject({
        code: 'keeper_lost',
        fix: `orrery env stop ${spec.id} && orrery env start ${spec.id}`,
      });
    expect((await environment.close()).lost).toMatch(/is gone.*brought back/);
  }, 120_000);
});
