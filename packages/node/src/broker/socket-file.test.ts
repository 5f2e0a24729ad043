import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenAt } from './socket-file.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-socket-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a socket file', () => {
  it('is for its owner alone and goes away again', async () => {
    const path = join(directory, 'b.sock');
    const server = createServer();
    const remove = await listenAt(server, path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    remove();
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
    server.close();
  });

  it('is never taken from someone who listens', async () => {
    const path = join(directory, 'b.sock');
    const first = createServer();
    const remove = await listenAt(first, path);
    await expect(listenAt(createServer(), path)).rejects.toMatchObject({ code: 'node_already_running' });
    remove();
    first.close();
  });

  it('replaces what a dead node left, and the dead one does not remove the new file', async () => {
    const path = join(directory, 'b.sock');
    const dead = createServer();
    const removeDead = await listenAt(dead, path);
    await new Promise((resolve) => dead.close(resolve));
    const alive = createServer();
    const remove = await listenAt(alive, path);
    removeDead();
    expect((await stat(path)).isSocket()).toBe(true);
    remove();
    alive.close();
  });

  it('says when its path is too long', async () => {
    await expect(listenAt(createServer(), join(directory, 'x'.repeat(120)))).rejects.toMatchObject({ code: 'config_invalid' });
  });
});
