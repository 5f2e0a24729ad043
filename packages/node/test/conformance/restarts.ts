import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { RestartOrder } from './restart-client.ts';
import { NODE, collect, processesWith, uniqueSleep, until, word } from './stage.ts';
import type { Stage } from './stage.ts';

/** Runs the small node up to a step, then kills it without warning. */
const dieAt = async (order: RestartOrder): Promise<Record<string, unknown>> => {
  const child = spawn(NODE, [join(import.meta.dirname, 'restart-client.ts'), JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('it ended by itself'))),
  ])) as [string];
  child.kill('SIGKILL');
  await once(child, 'exit');
  return JSON.parse(line) as Record<string, unknown>;
};

const ECHO = 'echo ready; while read line; do echo "got $line"; done; echo bye; exit 5';
const EVERYTHING = 'ready\ngot first\ngot second\nbye\n';

const orderOf = (stage: Stage, step: RestartOrder['step']): RestartOrder => ({
  ...stage.place,
  backend: stage.backend.name,
  module: stage.venue.module,
  step,
  spec: { ...stage.spec, id: `env-${word()}` },
  run: stage.runSpec({ args: ['-c', ECHO], stdio: 'stream', runId: 'the-run' }),
});

/** The node dies at each step; the next one finds everything again. */
export const restartCases = (stage: () => Stage): void => {
  it('killed after opening: the environment is found again and takes a run', async () => {
    const order = orderOf(stage(), 'opened');
    await dieAt(order);
    const environment = await stage().backend.reopen(order.spec);
    expect(await environment.reattach('the-run')).toBeNull();
    const handle = await environment.start({ ...order.run, args: ['-c', 'echo after'], stdio: 'piped' });
    await handle.go();
    expect((await collect(handle, 'stdout')).toString()).toBe('after\n');
    await handle.wait();
    await handle.finish();
    await environment.close();
  });

  it.each(['launched', 'gone', 'wrote', 'reading'] as const)(
    'killed when it had %s: the run goes on, each input is written once, every byte is there once',
    async (step) => {
      const order = orderOf(stage(), step);
      const said = await dieAt(order);
      const environment = await stage().backend.reopen(order.spec);
      const handle = await environment.reattach('the-run');
      if (handle === null) throw new Error('the run was not found again');
      if (said.identity !== undefined) expect(handle.identity).toEqual(said.identity);
      await handle.go();
      const from = typeof said.offset === 'number' ? said.offset : 0;
      expect(await handle.inputState('first')).toEqual({ state: ['wrote', 'reading'].includes(step) ? 'written' : 'unwritten' });
      await handle.write('first', Buffer.from('first\n'));
      await handle.write('second', Buffer.from('second\n'));
      await handle.closeInput();
      const rest = (await collect(handle, 'stdout', from)).toString();
      expect(`${typeof said.text === 'string' ? said.text : ''}${rest}`).toBe(EVERYTHING);
      expect((await handle.wait()).exitCode).toBe(5);
      await handle.finish();
      expect(await environment.reattach('the-run')).toBeNull();
      await environment.close();
    },
  );

  it('killed after the program’s end and before it was recorded: the end and the output are still there', async () => {
    const order = orderOf(stage(), 'ended');
    await dieAt(order);
    const environment = await stage().backend.reopen(order.spec);
    const handle = await environment.reattach('the-run');
    if (handle === null) throw new Error('the run was not found again');
    expect([await handle.wait(), (await collect(handle, 'stdout')).toString()]).toEqual([
      expect.objectContaining({ exitCode: 5 }),
      EVERYTHING,
    ]);
    await handle.finish();
    await environment.close();
  });

  it('a second opening of an environment that has runs is refused', async () => {
    const handle = await stage().start({ command: 'cat', stdio: 'stream' });
    await expect(stage().backend.open(stage().spec)).rejects.toMatchObject({ code: 'conflict' });
    await expect(stage().environment.start(stage().runSpec({ runId: handle.id }))).rejects.toMatchObject({ code: 'conflict' });
    await handle.kill();
    await handle.finish();
  });
};

/** What is left of a keeper or a node is ended: how, depends on the kernel and on the rights of the user. */
export const leftoverCases = (stage: () => Stage): void => {
  it('a keeper that was killed: its tree is gone, what it wrote is there, waiting for it says that it is lost', async () => {
    const marker = uniqueSleep();
    const handle = await stage().start({ args: ['-c', `(setsid ${marker} &); echo before; ${marker}`] });
    await until('both sleepers', () => processesWith(marker).length >= 2);
    // A keeper that is killed leaves what it had taken: here the word is among that.
    let said = '';
    for await (const { bytes } of handle.output('stdout', 0)) {
      said += Buffer.from(bytes).toString();
      if (said.includes('\n')) break;
    }
    const waiting = handle.wait();
    waiting.catch(() => undefined);
    const reading = collect(handle, 'stdout');
    reading.catch(() => undefined);
    const keeper = 'pid' in handle.identity ? handle.identity : handle.identity.keeper;
    if (keeper === undefined) throw new Error('nobody knows its keeper');
    await stage().venue.shell(stage().spec.id, 'kill -9 "$1"', String(keeper.pid));
    await expect(waiting).rejects.toMatchObject({ code: 'keeper_lost' });
    await expect(reading).rejects.toMatchObject({ code: 'keeper_lost' });
    await until('the tree is gone', () => processesWith(marker).length === 0);
    await expect(handle.write('late', Buffer.from('x'))).rejects.toMatchObject({ code: 'keeper_lost' });
    await handle.kill();
    const left = await stage().environment.reattach(handle.id);
    if (left === null) throw new Error('nothing was left');
    expect((await collect(left, 'stdout')).toString()).toBe('before\n');
    await expect(left.wait()).rejects.toMatchObject({ code: 'keeper_lost' });
    await left.finish();
  });

  it('what a dead node left and nobody names is found, ended and removed; what is named stays', async () => {
    const marker = uniqueSleep();
    const order = {
      ...orderOf(stage(), 'gone'),
      run: stage().runSpec({ command: 'sleep', args: [marker.slice(6)], stdio: 'stream', runId: 'lost' }),
    };
    await dieAt(order);
    await until('the sleeper', () => processesWith(marker).length > 0);
    expect(await stage().backend.reclaim([stage().spec.id, order.spec.id])).toEqual([]);
    expect(processesWith(marker).length).toBeGreaterThan(0);
    expect(await stage().backend.reclaim([stage().spec.id])).toEqual([order.spec.id]);
    expect(processesWith(marker)).toEqual([]);
    await expect(stage().backend.reopen(order.spec)).rejects.toMatchObject({ code: 'not_found' });
  });
};
