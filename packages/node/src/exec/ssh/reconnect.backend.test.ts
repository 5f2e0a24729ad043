// A connection is only a view: what runs on a host goes on without one, and is seen whole by the next.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { collect, until } from '../../../test/conformance/stage.ts';
import { sampleRun } from '../../../test/exec/sample-specs.ts';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { backendOn, sshParts } from '../../../test/ssh/places.ts';
import { leftOn, openSshStage, runScript } from '../../../test/ssh/stage.ts';
import type { SshStage } from '../../../test/ssh/stage.ts';
import type { Backend, Environment, Handle } from '../backend.ts';

/** A turn in small: it reads, answers on both streams, and asks the broker between. */
const TURN = `
n=0
while read -r line; do
  n=$((n + 1))
  echo "row $n: $line"
  echo "note $n" >&2
  i=0; while [ $i -lt 200 ]; do echo "$n.$i some text that a row is made of"; i=$((i + 1)); done
done
echo bye
exit 5
`;

/** A call to the broker by the shell alone: no program of the test has to be on the host. */
const ASK = `
exec 3<>/dev/tcp/127.0.0.1/$1
printf 'GET /%s HTTP/1.0\\r\\n\\r\\n' "$2" >&3
tail -n 1 <&3
`;

const limits = { wallMs: 300_000, outputBytes: 1024 ** 3 };

const startTurn = async (environment: Environment, runId: string): Promise<Handle> => {
  const handle = await environment.start(
    sampleRun({ args: ['-c', TURN], cwd: environment.workdir, stdio: 'stream', runId, limits }),
  );
  await handle.go();
  return handle;
};

/** Plays the inputs; `between` is what happens to the line meanwhile. */
const playTurn = async (handle: Handle, between: () => void) => {
  const reading = Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
  for (let round = 1; round <= 20; round += 1) {
    const written = handle.write(`input-${round}`, Buffer.from(`line ${round}\n`));
    between();
    expect(await written).toEqual({ state: 'written' });
  }
  await handle.closeInput();
  const [stdout, stderr, { exitCode }] = await reading;
  await handle.finish();
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
};

describe.skipIf(noSshHost() !== null)('a line that breaks', () => {
  let host: SshHost;
  let stage: SshStage;
  let backend: Backend;
  beforeAll(async () => {
    host = await startSshHost();
  });
  afterAll(() => host?.close());
  beforeEach(async () => {
    stage = await openSshStage();
    backend = backendOn(host, sshParts(stage.stateDir), { aliveSeconds: 1, aliveCount: 2 });
  });
  afterEach(async () => {
    host.wire.letGo();
    host.wire.refuse(false);
    await stage?.close();
  });

  it('20 times in the middle of a turn: the rows are those of a turn that nothing happened to', async () => {
    const environment = await backend.open(stage.spec);
    const whole = await playTurn(await startTurn(environment, 'whole'), () => undefined);
    let cuts = 0;
    const cut = await playTurn(await startTurn(environment, 'cut'), () => {
      cuts += host.wire.cut();
    });
    expect(cuts).toBeGreaterThanOrEqual(20);
    expect(cut).toEqual(whole);
    expect(whole.exitCode).toBe(5);
    await environment.close();
    expect(leftOn(host)).toEqual([]);
  });

  it('without a word, as when packets are dropped: it is noticed, and the turn goes on by another', async () => {
    const environment = await backend.open(stage.spec);
    const handle = await startTurn(environment, 'silent');
    const made = host.wire.made();
    host.wire.hold();
    const written = handle.write('one', Buffer.from('a line\n'));
    await until('the client gives the silent line up', () => host.wire.made() > made, 60_000);
    host.wire.cut();
    host.wire.letGo();
    expect(await written).toEqual({ state: 'written' });
    await handle.closeInput();
    const stdout = await collect(handle, 'stdout');
    expect(stdout.toString()).toMatch(/^row 1: a line\n/);
    expect(await handle.wait()).toMatchObject({ exitCode: 5 });
    await handle.finish();
    await environment.close();
  });

  it.each(['forward', 'relay'])(
    'while nobody can reach the host the broker is away, and calls to it wait (%s)',
    async (broker) => {
      writeFileSync(join(stage.spec.workdir, 'ask'), ASK);
      backend = backendOn(host, sshParts(stage.stateDir), { aliveSeconds: 1, aliveCount: 2, broker });
      const environment = await backend.open(stage.spec);
      const port = environment.brokerEndpoint.split(':').at(-1)!;
      const calls = `bash ./ask ${port} one; sleep 2; bash ./ask ${port} two`;
      const handle = await environment.start(sampleRun({ args: ['-c', calls], cwd: environment.workdir, limits }));
      await handle.go();
      let said = '';
      const reading = (async () => {
        for await (const { bytes } of handle.output('stdout', 0)) said += Buffer.from(bytes).toString();
      })();
      await until('the first answer', () => said !== '', 60_000);
      host.wire.refuse(true);
      host.wire.cut();
      await new Promise((resolve) => {
        setTimeout(resolve, 4000);
      });
      expect(stage.asked).toEqual(['/one']);
      host.wire.refuse(false);
      await reading;
      expect(said).toBe('broker heard /one\nbroker heard /two\n');
      await handle.wait();
      await handle.finish();
      const { stdout } = await runScript(environment, `bash ./ask ${port} again`);
      expect(stdout).toBe('broker heard /again\n');
      expect(host.processes().some((line) => line.includes('orrery-keeper relay'))).toBe(broker === 'relay');
      await environment.close();
      // No socket is left behind either.
      const sockets = join(host.home('root'), '.cache/orrery/s');
      expect(existsSync(sockets) ? readdirSync(sockets) : []).toEqual([]);
    },
  );

  it('a host that was restarted is told apart: what ran there is lost, and the reason is said; what was done is brought back', async () => {
    const environment = await backend.open(stage.spec);
    await runScript(environment, 'echo done > file');
    const handle = await startTurn(environment, 'restarted');
    const waiting = handle.wait();
    waiting.catch(() => undefined);
    await host.stop();
    await host.start();
    await expect(waiting).rejects.toMatchObject({ code: 'keeper_lost', message: expect.stringContaining('was restarted') });
    const { stdout } = await runScript(environment, 'cat file');
    expect(stdout).toBe('done\n');
    expect(await environment.close()).toEqual({ lost: null });
    expect(leftOn(host)).toEqual([]);
  });
});

describe.skipIf(noSshHost() !== null)('a server that forwards no sockets', () => {
  let host: SshHost;
  let stage: SshStage;
  beforeAll(async () => {
    host = await startSshHost({ extra: 'AllowStreamLocalForwarding no' });
  });
  afterAll(() => host?.close());
  beforeEach(async () => {
    stage = await openSshStage();
  });
  afterEach(() => stage?.close());

  it('has the broker by a relay, and is refused, with the fix, where forwarding is what was asked for', async () => {
    writeFileSync(join(stage.spec.workdir, 'ask'), ASK);
    const environment = await backendOn(host, sshParts(stage.stateDir)).open(stage.spec);
    const { stdout } = await runScript(environment, `bash ./ask ${environment.brokerEndpoint.split(':').at(-1)} one`);
    expect(stdout).toBe('broker heard /one\n');
    await environment.close();
    const asked = backendOn(host, sshParts(stage.stateDir), { broker: 'forward' });
    await expect(asked.preflight([])).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringContaining('forwards no sockets'),
      fix: expect.stringContaining('AllowStreamLocalForwarding'),
    });
    expect(leftOn(host)).toEqual([]);
  });
});
