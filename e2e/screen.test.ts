/** Full screens of programs: begun by a person, left, looked at by several, cut off, and found again after a crash. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Client } from '@orrery/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandsOn, sh } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite, ROOT } from './support/place.ts';
import { screenOn } from './support/screen.ts';
import { stalledViewer, viewerOf, viewerWhenThere } from './support/viewer.ts';
import { pause, taskEnd, waitFor } from './support/wait.ts';

const SLOW = { timeout: 900_000 };

describe('a screen that several look at', SLOW, () => {
  const place = placeOfSuite();
  let life: Life;
  let client: Client;
  beforeAll(async () => {
    life = await place.up();
    client = place.client(life);
  });
  const open = screenOn(() => client);
  const { send } = commandsOn(place, () => client);
  const stateOf = async (id: string) => (await client.call('taskShow', { params: { id } })).state;

  it.each(['sandbox', 'local'])('on %s has the size of the smallest visible one, and its program is told', async (backend) => {
    const script = "trap 'echo size $(stty size </dev/tty)' WINCH; echo ready; while :; do sleep 0.1; done";
    const { id, at } = await open(script, backend);
    const one = viewerOf(place, life, at);
    await one.seen(/ready/);
    one.send({ type: 'size', columns: 100, rows: 40 });
    await one.seen(/size 40 100/);
    const two = viewerOf(place, life, at);
    await two.heard(({ type }) => type === 'hello');
    // The size stands before what is shown again.
    expect(two.frames.slice(0, 2).map(({ type }) => type)).toEqual(['hello', 'size']);
    two.send({ type: 'size', columns: 60, rows: 50 });
    await one.seen(/size 40 60/);
    two.send({ type: 'size', columns: 60, rows: 50, visible: false });
    await one.seen(/size 40 60\s+size 40 100/);
    one.send({ type: 'size', columns: 3, rows: 2 });
    await one.seen(/size 5 20/);
    one.send({ type: 'size', columns: 90, rows: 45, visible: false });
    two.send({ type: 'size', columns: 70, rows: 30 });
    // Nobody looked in between: had the hidden size counted, it would have been told first.
    await one.seen(/size 5 20\s+size 30 70/);
    expect(one.text()).not.toContain('<hole');
    await client.call('taskCancel', { params: { id }, body: {} });
    await one.heard(({ type }) => type === 'exit');
    await taskEnd(client, id);
  });

  it('has one who writes; who takes over is told, and so is who is taken over from', async () => {
    const { id, at } = await open('stty -echo; echo ready; read a; echo "got $a"; read b; echo "got $b"', 'local');
    const [one, two] = [viewerOf(place, life, at), viewerOf(place, life, at)];
    await Promise.all([one.seen(/ready/), two.seen(/ready/)]);
    one.type('first\n');
    await one.seen(/got first/);
    await one.heard((frame) => frame.type === 'took' && frame['offset'] === 6);
    two.type('never\n');
    expect(await two.heard(({ type }) => type === 'refused')).toMatchObject({ code: 'busy' });
    two.send({ type: 'take' });
    await one.heard((frame) => frame.type === 'writer' && frame['writer'] === 'other');
    await two.heard((frame) => frame.type === 'writer' && frame['writer'] === 'you');
    two.type('second\n');
    await one.seen(/got second/);
    expect(await taskEnd(client, id)).toMatchObject({ state: 'accepted' });
    expect(one.text()).not.toContain('never');
  });

  it('is drawn for who comes when its output is gone, also after the node was killed', async () => {
    const flood = 'i=0; while [ $i -lt 260 ]; do head -c 49152 /dev/zero | tr "\\0" x | fold -w 64; i=$((i+1)); done';
    const script = `${flood}; printf '\\033[2J\\033[H\\033[?2004h\\033[31mTHE LAST SCREEN\\033[0m\\033[5;7H\\a'; read x`;
    const { id, at } = await open(script, 'local');
    // It rings when it has printed everything; and nobody looks yet, so that what is old is given up.
    await waitFor('the end of the flood', async () => ((await stateOf(id)) === 'waiting' ? true : null), 240_000);
    const remembered = join(place.data, 'environments', at.environment, 'private/screens', `${at.terminal}.json`);
    await waitFor('output is given up', () => (existsSync(remembered) ? true : null), 240_000);
    const drawnFor = async () => {
      const late = await viewerWhenThere(place, life, at);
      await waitFor(
        'the last screen',
        () => (`${late.drawn()}${late.text()}`.includes('THE LAST SCREEN') ? true : null),
        240_000,
      );
      const desync = await late.heard(({ type }) => type === 'desync');
      const screen = desync['screen'] as { bytes: number; columns: number; rows: number };
      expect([late.frames.slice(0, 4).map(({ type }) => type), screen.bytes, screen.columns, screen.rows]).toEqual([
        ['hello', 'size', 'desync', 'bytes'],
        Buffer.byteLength(late.drawn()),
        80,
        24,
      ]);
      // What follows the screen follows without a hole.
      expect([late.from ?? desync['offset'], late.text().includes('<hole')]).toEqual([desync['offset'], false]);
      return late;
    };
    (await drawnFor()).leave();
    await life.kill();
    life = await place.up();
    client = place.client(life);
    const again = await drawnFor();
    again.type('\n');
    await again.heard(({ type }) => type === 'exit');
    expect(await taskEnd(client, id)).toMatchObject({ state: 'accepted' });
  });

  it('cuts off who takes nothing, and slows nobody else', async () => {
    const { id, at, view } = await open('read go; head -c 24000000 /dev/zero | tr "\\0" y; echo; echo whole; read end', 'local');
    const quick = viewerOf(place, life, at);
    await quick.heard(({ type }) => type === 'hello');
    await stalledViewer(place, life, at);
    await waitFor('both', async () => ((await view())?.viewers === 2 ? true : null));
    quick.type('\n');
    await waitFor('one is cut off', async () => ((await view())?.viewers === 1 ? true : null), 240_000);
    await quick.seen(/whole/);
    const whole = quick.text();
    expect([whole.includes('<hole'), whole.split('y').length - 1, quick.closed]).toEqual([false, 24_000_000, null]);
    quick.type('\n');
    expect(await taskEnd(client, id)).toMatchObject({ state: 'accepted' });
  });

  it('waits for a person when its program says so, and no longer once it was answered', async () => {
    const { id, at } = await open('printf "\\a"; read x; echo "got $x"; sleep 600', 'local');
    await waitFor('waiting', async () => ((await stateOf(id)) === 'waiting' ? true : null), 240_000);
    expect((await client.call('taskShow', { params: { id } })).waitingFor).toBe('a person: the program asks to be looked at');
    const one = viewerOf(place, life, at);
    await one.heard(({ type }) => type === 'hello');
    one.type('yes\n');
    await waitFor('running again', async () => ((await stateOf(id)) === 'running' ? true : null), 240_000);
    await client.call('taskCancel', { params: { id }, body: {} });
    await taskEnd(client, id);
  });

  it('is refused without a terminal, and where it cannot be', async () => {
    const answer = await place.cli(['run', '--tui', 'a prompt']);
    expect([answer.code, answer.stderr]).toEqual([2, expect.stringContaining('needs a terminal')]);
    const add = (more: object) =>
      client.call('taskAdd', { body: { prompt: '', harness: 'command', command: ['true'], ...more } });
    await expect(add({})).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(add({ interactive: true, maxRetries: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(add({ interactive: true, prompt: 'x'.repeat(100_001) })).rejects.toMatchObject({ code: 'input_too_large' });
  });

  it('input of a command waits for it, on the way too, and nothing of it is lost', async () => {
    const task = await send('echo open; sleep 600', { backend: 'local' });
    const exec = (script: string) =>
      spawn(process.execPath, [join(ROOT, 'packages/cli/src/main.ts'), 'env', 'exec', task, '--', 'sh', '-c', script], {
        env: place.env,
        cwd: place.folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
    await waitFor('the environment', async () => ((await place.cli(['env', 'stats', task])).code === 0 ? true : null), 240_000);
    // More than the whole way can hold; the command looks at it only when it is told.
    const input = Buffer.alloc(20_000_000, 'all of the input\n');
    const child = exec('while [ ! -e go ]; do sleep 0.1; done; sha256sum');
    const ended = new Promise((resolve) => child.once('close', resolve));
    let taken = 0;
    const writing = (async () => {
      for (let at = 0; at < input.length; at += 65_536) {
        const piece = input.subarray(at, at + 65_536);
        if (!child.stdin.write(piece)) await new Promise((resolve) => child.stdin.once('drain', resolve));
        taken += piece.length;
      }
      child.stdin.end();
    })();
    const still = async (): Promise<number | null> => {
      const before = taken;
      await pause(1_000);
      return taken === before && before > 0 ? before : null;
    };
    const held = await waitFor('nothing more is taken', still, 240_000);
    expect(held).toBeLessThan(8_000_000);
    let printed = '';
    child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
    expect((await place.cli(['env', 'exec', task, '--', 'touch', 'go'])).code).toBe(0);
    await writing;
    expect([await ended, printed.slice(0, 64)]).toEqual([0, createHash('sha256').update(input).digest('hex')]);
    await client.call('taskCancel', { params: { id: task }, body: {} });
    await taskEnd(client, task);
  });

  it('output of a command is whole although the node was killed and another one took its place', async () => {
    const task = await send('echo open; sleep 600', { backend: 'local' });
    await waitFor('the environment', async () => ((await place.cli(['env', 'stats', task])).code === 0 ? true : null), 240_000);
    const lines = 'echo begun; i=0; while [ ! -e stop ]; do i=$((i+1)); echo "line $i"; sleep 0.01; done; echo "in all $i"';
    const child = spawn(process.execPath, [join(ROOT, 'packages/cli/src/main.ts'), 'env', 'exec', task, '--', ...sh(lines)], {
      env: place.env,
      cwd: place.folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    let printed = '';
    child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
    const count = (): number => printed.split('\n').length;
    await waitFor('some lines', () => (count() > 50 ? true : null), 240_000);
    await life.kill();
    const cut = count();
    life = await place.up();
    client = place.client(life);
    await waitFor('more lines', () => (count() > cut + 50 ? true : null), 240_000);
    expect((await place.cli(['env', 'exec', task, '--', 'touch', 'stop'])).code).toBe(0);
    expect(await ended).toBe(0);
    const total = Number(/in all (\d+)/.exec(printed)?.[1]);
    const uncut = ['begun', ...Array.from({ length: total }, (_, at) => `line ${at + 1}`), `in all ${total}`, ''];
    expect(printed).toBe(uncut.join('\n'));
    await client.call('taskCancel', { params: { id: task }, body: {} });
    await taskEnd(client, task);
  });
});
