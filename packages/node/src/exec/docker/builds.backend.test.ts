// Images out of a repository, by the builder of a real engine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { OrreryError } from '@orrery/protocol/errors';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { NODE, processesWith, uniqueSleep, until, word } from '../../../test/conformance/stage.ts';
import type { BuildOrder } from '../../../test/docker/build-client.ts';
import { builderAt, sampleBuild } from '../../../test/docker/builds.ts';
import { SMALL_IMAGE, describeWithEngine } from '../../../test/docker/engine.ts';
import { LONG_MS, createPlaces, shellIn } from '../../../test/docker/places.ts';

const CLIENT = new URL('../../../test/docker/build-client.ts', import.meta.url).pathname;

describeWithEngine(
  'images that are built',
  (engine) => {
    const { containers, create, installation, sweep } = createPlaces(engine);
    const builder = (bounds?: Parameters<typeof builderAt>[2]) => builderAt(engine().socket, installation, bounds);
    const images = async (all = false): Promise<{ Id: string; RepoTags: string[] | null }[]> =>
      JSON.parse((await engine().ask('GET', `/images/json?all=${all}`)).text) as { Id: string; RepoTags: string[] | null }[];
    const builtNames = async (): Promise<string[]> =>
      (await images())
        .flatMap(({ RepoTags }) => RepoTags ?? [])
        .filter((name) => name.includes('orrery-build:'))
        .toSorted();
    const build = async (...given: Parameters<typeof sampleBuild>) => {
      const said: string[] = [];
      return { name: await builder().build(sampleBuild(...given), (line) => said.push(line)), said };
    };

    afterEach(async () => {
      await until('no container is left', async () => (await sweep()).length === 0, LONG_MS);
    });
    afterAll(async () => {
      await builder().prune();
    });

    it('hold the files of the context as they were committed, and their programs reach no network', async () => {
      const deep = `${'folder/'.repeat(30)}file`;
      const files = { 'src/run.sh': 'run:#!/bin/sh\necho ran', 'a link': 'link:src/run.sh', [deep]: 'deep', ü: 'umlaut' };
      const lines = [
        'ARG WORD=none',
        'USER 0:0',
        'COPY . /context',
        'RUN ls /sys/class/net > /nets && /context/src/run.sh && echo "$WORD" > /word',
        'USER agent',
      ];
      const { name, said } = await build(lines, files, { args: { WORD: 'given' } });
      expect(name).toMatch(/^orrery-build:[0-9a-f]{64}$/);
      expect(said.join('\n')).toMatch(/^ran$/m);
      const place = await create({}, { image: name });
      const script = 'cat /nets /word "/context/$1" /context/ü; readlink "/context/a link"; ls -A /context; id -un';
      expect((await shellIn(place, script, deep)).stdout).toBe(
        'lo\ngiven\ndeepumlautsrc/run.sh\na link\nfolder\nsrc\nü\nagent\n',
      );
      const { name: ignoring } = await build(['USER 0:0', 'COPY . /context', 'USER agent'], { '.dockerignore': 'x', kept: '1' });
      expect((await shellIn(await create({}, { image: ignoring }), 'ls -A /context')).stdout).toBe('.dockerignore\nkept\n');
    });

    it('are built once of the same, whoever asks and at the same time, and anew of anything else', async () => {
      const lines = [`RUN echo ${word()}`];
      const said: string[] = [];
      const { build: ask } = builder();
      const same = await Promise.all([1, 2, 3].map(() => ask(sampleBuild(lines, { a: '1' }), (line) => said.push(line))));
      expect(new Set(same).size).toBe(1);
      expect(said.filter((line) => line.startsWith('Building')).length).toBe(1);
      expect((await build(lines, { a: '1' })).said).toEqual([`The image ${same[0]} is there: it was built of the same.`]);
      const others = [
        (await build(lines, { a: '2' })).name,
        (await build(lines, { a: 'run:1' })).name,
        (await build(lines, { a: '1' }, { args: { X: '1' } })).name,
        (await build([...lines, 'RUN true'], { a: '1' })).name,
      ];
      expect(new Set([...others, same[0]]).size).toBe(5);
    });

    it('take another user than the image’s where the project names one', async () => {
      const { name } = await build(['USER 0:0', 'RUN echo "dev:x:1234:1234::/home/dev:/bin/sh" >> /etc/passwd', 'USER agent']);
      expect((await shellIn(await create({}, { image: name, user: 'dev' }), 'id -u; id -g')).stdout).toBe('1234\n1234\n');
    });

    it('that fail say why with the end of what was printed, and leave nothing', async () => {
      const before = await builtNames();
      await expect(build(['RUN echo what is wrong; exit 7', 'RUN echo not reached'])).rejects.toMatchObject({
        code: 'backend_unavailable',
        message: expect.stringMatching(/could not be built\.[\s\S]*7[\s\S]*what is wrong/),
      });
      await expect(build(['FROM orrery-test/missing:1'])).rejects.toMatchObject({
        fix: 'Fetch it: docker pull orrery-test/missing:1',
      });
      await expect(build(['COPY nothing /'])).rejects.toMatchObject({ code: 'backend_unavailable' });
      expect([await builtNames(), await containers()]).toEqual([before, []]);
    });

    describe('reach no more than their bounds, each with its name', () => {
      const refusal = async (bounds: Parameters<typeof builderAt>[2], ...lines: string[]) => {
        const before = await builtNames();
        const ending = builder(bounds).build(sampleBuild(['USER 0:0', ...lines]), () => undefined);
        const { code, rule, message } = await ending.then(
          () => ({ code: 'built', rule: '', message: '' }),
          (thrown: OrreryError) => thrown,
        );
        await until('its containers are gone', async () => (await containers()).length === 0, LONG_MS);
        expect(await builtNames()).toEqual(before);
        return { code, bound: /build\.(\w+)/.exec(rule ?? '')?.[1], message };
      };
      const baseBytes = async (): Promise<number> =>
        (JSON.parse((await engine().ask('GET', `/images/${SMALL_IMAGE}/json`)).text) as { Size: number }).Size;
      const MIB = 1024 ** 2;

      it('memory', async () => {
        const step = `RUN x="$(head -c 200000000 /dev/zero | tr '\\0' a)"; echo "\${#x}"`;
        expect(await refusal({ memoryBytes: 64 * MIB }, step)).toMatchObject({ code: 'limit_reached', bound: 'memoryBytes' });
      });

      it('processes', async () => {
        const step =
          'RUN sleep 1; sleep 2 & late=$!; (i=0; while [ $i -lt 64 ]; do sleep 2 & i=$((i+1)); done); wait $late; exit 1';
        const reached = { code: 'limit_reached', bound: 'processes', message: expect.stringMatching(/fork/i) as unknown };
        expect(await refusal({ processes: 24 }, step)).toMatchObject(reached);
      });

      it('disk: one file, many files, and many steps', async () => {
        const diskBytes = (await baseBytes()) + 64 * MIB;
        const [bounds, reached] = [{ diskBytes }, { code: 'limit_reached', bound: 'diskBytes' }];
        expect(await refusal(bounds, `RUN head -c ${diskBytes + MIB} /dev/zero > /large`)).toMatchObject(reached);
        const many = 'RUN for i in 1 2 3 4; do head -c 30000000 /dev/zero > /large$i; done; exec sleep 60';
        expect(await refusal(bounds, many)).toMatchObject(reached);
        const steps = [1, 2, 3, 4].map((i) => `RUN head -c 30000000 /dev/zero > /step${i}`);
        expect(await refusal(bounds, ...steps)).toMatchObject(reached);
      });

      it('processors', async () => {
        const said: string[] = [];
        const quota = 'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null || true';
        await builder({ cpus: 0.5 }).build(sampleBuild([`RUN ${quota}; echo ${word()}`]), (line) => said.push(line));
        expect(said.join('\n')).toMatch(/^50000( 100000)?$/m);
      });
    });

    describe('while they are built', () => {
      const begun = async (sleep: string): Promise<void> => until('it runs', () => processesWith(sleep).length > 0, LONG_MS);
      const over = async (sleep: string, before: readonly string[]): Promise<void> => {
        await until('its programs are gone', () => processesWith(sleep).length === 0, LONG_MS);
        await until('its containers are gone', async () => (await containers()).length === 0, LONG_MS);
        expect(await builtNames()).toEqual(before);
      };

      it('end when they take too long', async () => {
        const [sleep, before] = [uniqueSleep(), await builtNames()];
        const ending = builder({ timeMs: 5_000 }).build(sampleBuild([`RUN ${sleep}`]), () => undefined);
        await expect(ending).rejects.toMatchObject({ code: 'limit_reached', message: expect.stringContaining('5000 ms') });
        await over(sleep, before);
      });

      it('end when nobody waits for them any more', async () => {
        const [sleep, before, stop] = [uniqueSleep(), await builtNames(), new AbortController()];
        const ending = builder().build(sampleBuild([`RUN ${sleep}`], {}, { signal: stop.signal }), () => undefined);
        ending.catch(() => undefined);
        await begun(sleep);
        stop.abort();
        await expect(ending).rejects.toMatchObject({ name: 'AbortError' });
        await over(sleep, before);
      });

      it('end with a node that is killed: nothing half made has the name, and the next build makes it', async () => {
        const [sleep, before] = [uniqueSleep(), await builtNames()];
        const lines = ['USER 0:0', 'RUN echo first > /first', `RUN [ -e /first ] && ${sleep}`];
        const child = spawn(NODE, [CLIENT], { stdio: ['pipe', 'ignore', 'inherit'] });
        child.stdin.end(JSON.stringify({ socket: engine().socket, installation, lines } satisfies BuildOrder));
        await begun(sleep);
        child.kill('SIGKILL');
        await once(child, 'exit');
        await over(sleep, before);
        const { name } = await build([...lines.slice(0, 2), 'RUN [ -e /first ]']);
        expect(await builtNames()).toContain(name);
      });
    });

    it('are taken away by a prune with what broken builds left; what is used, and what is not ours, stays', async () => {
      const { name: used } = await build([`RUN echo ${word()}`]);
      const { name: unused } = await build([`RUN echo ${word()}`]);
      const other = builderAt(engine().socket, `${installation}2`);
      const foreign = await other.build(sampleBuild([`RUN echo ${word()}`]), () => undefined);
      await expect(build([`RUN echo ${word()}`, 'RUN false'])).rejects.toThrow();
      const place = await create({}, { image: used });
      const removed = (await builder().prune()).map((name) => name.replace(/^.*\//, ''));
      expect(removed).toContain(unused);
      const left = (await builtNames()).map((name) => name.replace(/^.*\//, ''));
      expect(left.toSorted()).toEqual([used, foreign].toSorted());
      await place.remove();
      await builder().prune();
      await other.prune();
      expect((await images(true)).map(({ RepoTags }) => RepoTags?.map((name) => name.replace('docker.io/', '')))).toEqual([
        [SMALL_IMAGE],
      ]);
    });
  },
  'docker',
);
