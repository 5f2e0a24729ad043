import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { collect, processesWith, uniqueSleep, until, word } from './stage.ts';
import type { Stage } from './stage.ts';

/** How programs end, by themselves and by us, and that nothing of them is left. */
export const endingCases = (stage: () => Stage): void => {
  it('the exit code is the program’s', async () => {
    const { end } = await stage().run({ args: ['-c', 'exit 42'] });
    expect(end).toMatchObject({ exitCode: 42, signal: null, limit: null, reason: null, stdoutBytes: 0, stderrBytes: 0 });
    expect(end.maxRssBytes).toBeGreaterThan(0);
  });

  it('a signal that ended the program is named', async () => {
    expect((await stage().run({ args: ['-c', 'kill -USR1 $$'] })).end).toMatchObject({
      exitCode: null,
      signal: 'SIGUSR1',
      reason: null,
    });
  });

  it('a program that is not there ends with a reason, not with an exit code', async () => {
    expect((await stage().run({ command: 'no-such-program-anywhere' })).end).toMatchObject({
      exitCode: null,
      reason: 'exec:ENOENT',
    });
  });

  it('a program before go has done nothing, and can be ended without having started', async () => {
    const marker = uniqueSleep();
    const handle = await stage().environment.start(stage().runSpec({ args: ['-c', marker] }));
    expect([processesWith(marker).length, await handle.tryWait()]).toEqual([0, null]);
    await handle.kill();
    expect(await handle.wait()).toMatchObject({ exitCode: null, reason: 'killed', tookMs: 0 });
    await handle.finish();
  });

  it('tryWait answers null while the program runs and its end afterwards', async () => {
    const handle = await stage().start({ command: 'cat', stdio: 'stream' });
    expect(await handle.tryWait()).toBeNull();
    await handle.closeInput();
    const end = await handle.wait();
    expect(await handle.tryWait()).toEqual(end);
    await handle.finish();
  });

  it('terminate asks: a program may clean up and answer with its own exit code', async () => {
    const handle = await stage().start({
      args: ['-c', 'trap "echo cleaned; exit 7" TERM; echo ready; while :; do sleep 0.05; done'],
    });
    for await (const { bytes } of handle.output('stdout', 0)) if (Buffer.from(bytes).toString().includes('ready')) break;
    await handle.terminate();
    expect((await handle.wait()).exitCode).toBe(7);
    expect((await collect(handle, 'stdout')).toString()).toBe('ready\ncleaned\n');
    await handle.finish();
  });

  it('kill takes a whole tree that ignores TERM, left its session and double-forked; seen from outside', async () => {
    const marker = uniqueSleep();
    const script = `trap "" TERM; (setsid sh -c 'trap "" TERM; ${marker} & ${marker}; ${marker}' &) ; (${marker} &) ; echo ready; ${marker}; ${marker}`;
    const handle = await stage().start({ args: ['-c', script] });
    await until('four sleepers', () => processesWith(marker).length === 4);
    await handle.terminate();
    expect(await handle.tryWait()).toBeNull();
    await handle.kill();
    expect(processesWith(marker)).toEqual([]);
    expect(await handle.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL', reason: 'killed' });
    await handle.finish();
  });

  it('what a program leaves behind ends with it, and does not hold its output open', async () => {
    const marker = uniqueSleep();
    const { end, stdout } = await stage().run({ args: ['-c', `(setsid ${marker} &); (${marker} &); echo done`] });
    expect([end.exitCode, stdout.toString(), processesWith(marker)]).toEqual([0, 'done\n', []]);
  });

  it('closing the environment ends every program of it and leaves nothing of it', async () => {
    const marker = uniqueSleep();
    const spec = { ...stage().spec, id: `env-${word()}` };
    const environment = await stage().backend.open(spec);
    const handles = await Promise.all(
      [1, 2, 3].map((n) => environment.start(stage().runSpec({ runId: `r${n}`, args: ['-c', marker] }))),
    );
    await Promise.all(handles.map((handle) => handle.go()));
    await until('three sleepers', () => processesWith(marker).length >= 3);
    expect((await environment.stats()).processes).toBeGreaterThanOrEqual(3);
    await environment.close();
    expect([processesWith(marker), existsSync(`${stage().place.stateDir}/${stage().backend.name}/${spec.id}`)]).toEqual([
      [],
      false,
    ]);
    await environment.close();
    await expect(environment.start(stage().runSpec({}))).rejects.toMatchObject({ code: 'stale' });
  });
};
