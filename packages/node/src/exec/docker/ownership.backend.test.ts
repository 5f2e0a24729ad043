// What a node knows of its containers, what it leaves alone, and what it needs.
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { SMALL_IMAGE, createCuttableSocket, describeWithEngine } from '../../../test/docker/engine.ts';
import { createPlaces, idOf, shellIn as shell } from '../../../test/docker/places.ts';

describeWithEngine('the containers of a node', (engine) => {
  const { containers, create, installation, provider, spec, sweep } = createPlaces(engine);
  afterEach(async () => {
    expect(await sweep()).toEqual([]);
  });

  describe('what is known of a container', () => {
    it('that was ended by somebody is that its files are there: it is started again', async () => {
      const place = await create();
      await shell(place, 'echo kept > /orrery/env/file');
      await engine().ask('POST', `/containers/${idOf(place)}/kill`);
      expect((await shell(place, 'cat /orrery/env/file')).stdout).toBe('kept\n');
      await engine().ask('POST', `/containers/${idOf(place)}/kill`);
      expect(await place.state()).toEqual({ state: 'running' });
    });

    it('that was removed is that it is gone', async () => {
      const places = await provider();
      const one = spec();
      const place = await places.create(one, () => undefined);
      await engine().ask('DELETE', `/containers/${idOf(place)}?force=true`);
      expect(await place.state()).toEqual({ state: 'gone', why: 'its container was removed' });
      expect(await places.find(one.environmentId, place.ref)).toBeNull();
      expect(await place.explain()).toBe('The container was removed by somebody else.');
      await place.remove();
    });

    it('while the engine cannot be asked is nothing: not that it is gone', async () => {
      const socket = await createCuttableSocket(engine().socket);
      try {
        const places = await provider({}, socket.path);
        const one = spec();
        const place = await places.create(one, () => undefined);
        const waiting = await place.exec({ argv: ['cat'], stdin: 'open', timeoutMs: null });
        await socket.cut();
        expect(await waiting.ended).toEqual({ lost: expect.any(String) });
        expect(await place.state()).toMatchObject({ state: 'unknown' });
        const unreachable = { code: 'backend_unreachable' };
        await expect(places.find(one.environmentId, place.ref)).rejects.toMatchObject(unreachable);
        await expect(places.list()).rejects.toMatchObject(unreachable);
        await expect(places.sweep(one.environmentId)).rejects.toMatchObject(unreachable);
        await expect(place.exec({ argv: ['true'], timeoutMs: null })).rejects.toMatchObject(unreachable);
        await socket.mend();
        expect(await place.state()).toEqual({ state: 'running' });
        expect((await places.find(one.environmentId, place.ref))?.ref).toEqual(place.ref);
      } finally {
        await socket.close();
      }
    });

    it('that is paused is that nobody can tell', async () => {
      const place = await create();
      await engine().ask('POST', `/containers/${idOf(place)}/pause`);
      expect(await place.state()).toEqual({ state: 'unknown', why: expect.stringContaining('docker unpause') });
      await engine().ask('POST', `/containers/${idOf(place)}/unpause`);
    });

    it('that ran out of memory is said with its limit', async () => {
      const place = await create({ memoryBytes: 64 * 1024 * 1024 });
      expect(await place.explain()).toBeNull();
      const { end } = await shell(place, 'x=$(head -c 200000000 /dev/zero | tr "\\0" a); echo ${#x}');
      expect(end).not.toEqual({ exitCode: 0 });
      expect(await place.explain()).toMatch(/^The container reached its limit of 64 MB: the kernel ended \d+ programs?\.$/);
    });

    it('is measured: its programs, which are none without a keeper, its memory, and the files that it changed', async () => {
      const place = await create();
      await shell(place, 'head -c 5000000 /dev/zero > /orrery/env/five; sync');
      const { processes, memoryBytes, diskBytes } = await place.stats();
      expect(processes).toBe(0);
      expect(memoryBytes).toBeGreaterThan(0);
      expect(diskBytes).toBeGreaterThanOrEqual(5_000_000);
    });
  });

  describe('what is not ours', () => {
    const foreign = async (name: string, labels: Record<string, string>): Promise<string> => {
      const body = {
        Image: SMALL_IMAGE,
        Entrypoint: ['sleep', '1000'],
        StopSignal: 'SIGKILL',
        Labels: labels,
        HostConfig: { NetworkMode: 'none' },
      };
      const { text: answer } = await engine().ask('POST', `/containers/create?name=${name}`, body);
      return (JSON.parse(answer) as { Id: string }).Id;
    };

    it('is not listed, not taken over and not removed, however alike it looks', async () => {
      const places = await provider();
      const one = spec();
      const ours = await places.create(one, () => undefined);
      const labels = { 'dev.orrery.environment': one.environmentId, 'dev.orrery.installation': installation };
      const others = [
        await foreign(`orrery-${installation}-${one.environmentId}-2`, {}),
        await foreign('another-node', { ...labels, 'dev.orrery.installation': `${installation}2` }),
        await foreign('no-environment', { 'dev.orrery.installation': installation }),
      ];
      try {
        expect(await places.list()).toEqual([one.environmentId]);
        await places.sweep(one.environmentId);
        expect((await containers()).toSorted()).toEqual(others.toSorted());
        expect(await places.find(one.environmentId, { container: others[1]! })).toBeNull();
        expect(await ours.state()).toMatchObject({ state: 'gone' });
      } finally {
        for (const id of others) await engine().ask('DELETE', `/containers/${id}?force=true`);
      }
    });

    it('and has our name is said, and stays', async () => {
      const one = spec();
      const id = await foreign(`orrery-${installation}-${one.environmentId}`, {});
      try {
        await expect((await provider()).create(one, () => undefined)).rejects.toMatchObject({ code: 'conflict' });
        expect(await containers()).toEqual([id]);
      } finally {
        await engine().ask('DELETE', `/containers/${id}?force=true`);
      }
    });
  });

  describe('an image', () => {
    it('that is missing is named with the way to get it, before anything is made', async () => {
      const missing = await provider({ image: 'orrery-test/missing:1' });
      const error = { code: 'backend_unavailable', fix: 'Fetch it: docker pull orrery-test/missing:1' };
      await expect(missing.preflight()).rejects.toMatchObject(error);
      await expect(missing.create(spec(), () => undefined)).rejects.toMatchObject(error);
      await expect((await provider({ image: null })).preflight()).rejects.toMatchObject({
        fix: expect.stringContaining('docker build'),
      });
      await expect((await provider()).preflight()).resolves.toBeUndefined();
    });

    it('that a registry does not give is said in the engine’s words', async () => {
      const pulling = await provider({ image: 'localhost:1/nothing:1', pull: 'missing' });
      await expect(pulling.create(spec(), () => undefined)).rejects.toMatchObject({ code: 'backend_unavailable' });
    });

    it('without a shell leaves no container behind', async () => {
      const empty = Buffer.alloc(1024);
      await engine().ask('POST', '/images/create?fromSrc=-&repo=orrery-test/empty&tag=1', Readable.from([empty]));
      await expect((await provider({ image: 'orrery-test/empty:1' })).create(spec(), () => undefined)).rejects.toMatchObject({
        code: 'backend_unavailable',
      });
    });
  });
});
