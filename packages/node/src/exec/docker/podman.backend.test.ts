// The same containers by Podman: what an engine may do otherwise. `ORRERY_TEST_ENGINE=podman` runs all of the others on it.
import { afterEach, expect, it } from 'vitest';
import { builderAt, sampleBuild } from '../../../test/docker/builds.ts';
import { describeWithEngine } from '../../../test/docker/engine.ts';
import { createPlaces, idOf, shellIn as shell } from '../../../test/docker/places.ts';

const describeWithPodman: typeof describeWithEngine = (name, body) => describeWithEngine(name, body, 'podman');

describeWithPodman('containers of Podman', (engine) => {
  const { containers, create, installation, provider, spec, sweep } = createPlaces(engine);
  afterEach(async () => {
    expect(await sweep()).toEqual([]);
  });

  it('are told from Docker’s, and usable', async () => {
    const places = await provider();
    await places.preflight();
    expect(await places.about?.()).toMatch(/^Podman \d/);
  });

  it('have the same walls: no rights, no network of either version, own processes, limits', async () => {
    const place = await create({ memoryBytes: 64 * 1024 * 1024 });
    const script =
      'id -u; ls /sys/class/net; cat /proc/net/if_inet6 2>/dev/null; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; ls -d /proc/[0-9]* | wc -l';
    const lines = (await shell(place, script)).stdout.trimEnd().split('\n');
    expect(lines.slice(0, -1)).toEqual([
      ...['1000', 'lo', 'CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000'],
      ...['NoNewPrivs:\t1', 'Seccomp:\t2'],
    ]);
    expect(Number(lines.at(-1))).toBeLessThan(10);
    await shell(place, 'x=$(head -c 200000000 /dev/zero | tr "\\0" a); echo ${#x}');
    expect(await place.explain()).toMatch(/^The container reached its limit of 64 MB/);
    expect((await place.stats()).diskBytes).not.toBeNull();
  });

  it('are made once for an environment, found by label, and started again when somebody ended them', async () => {
    const places = await provider();
    const one = spec();
    const made = await Promise.all([places.create(one, () => undefined), places.create(one, () => undefined)]);
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect([await containers(), await places.list()]).toEqual([[idOf(made[0]!)], [one.environmentId]]);
    await shell(made[0]!, 'echo kept > /orrery/env/file');
    await engine().ask('POST', `/containers/${idOf(made[0]!)}/kill`);
    const found = await (await provider()).find(one.environmentId, {});
    expect((await shell(found!, 'cat /orrery/env/file; exit 3')).stdout).toBe('kept\n');
    await places.sweep(one.environmentId);
    expect(await found!.state()).toMatchObject({ state: 'gone' });
  });

  it('are not made of images that it would build: its builder holds neither walls nor time', async () => {
    const building = builderAt(engine().socket, installation).build(sampleBuild(['RUN true']), () => undefined);
    await expect(building).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('Podman') });
  });
});
