// Containers as places: a real engine, seen from inside and from outside.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { processesWith, uniqueSleep, until } from '../../../test/conformance/stage.ts';
import { describeWithEngine } from '../../../test/docker/engine.ts';
import { LONG_MS, createPlaces, idOf, runIn as run, shellIn as shell } from '../../../test/docker/places.ts';

describeWithEngine('containers of a real engine', (engine) => {
  const { containers, create, provider, spec, sweep } = createPlaces(engine);
  afterEach(async () => {
    expect(await sweep()).toEqual([]);
  });

  it('are a user without rights, a folder of their own, no network and no way to more', async () => {
    const place = await create();
    const { stdout } = await shell(
      place,
      'id -u; id -g; stat -c "%a %u:%g" /orrery/env; ls /sys/class/net; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; env | sort | grep -v ORRERY_COMMAND',
    );
    expect(stdout.split('\n')).toEqual([
      ...['1000', '1000', '700 1000:1000', 'lo'],
      ...['CapBnd:\t0000000000000000', 'CapEff:\t0000000000000000'].toReversed(),
      ...['NoNewPrivs:\t1', 'Seccomp:\t2'],
      ...[
        'HOME=/home/agent',
        'HOSTNAME=orrery',
        'LEFT_ALONE=yes',
        'PATH=/usr/local/bin:/usr/bin:/bin',
        'PWD=/',
        'SHLVL=1',
        'TERM=xterm',
        '_=/usr/bin/env',
        'container=podman',
      ].filter((line) => stdout.includes(line)),
      '',
    ]);
    expect(place.owner).toEqual({ uid: 1000, gid: 1000 });
  });

  it('are made once for an environment, however often and at the same time it is asked', async () => {
    const places = await provider();
    const one = spec();
    const made = await Promise.all([places.create(one, () => undefined), places.create(one, () => undefined)]);
    made.push(await places.create(one, () => undefined));
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect(await containers()).toEqual([idOf(made[0]!)]);
    expect(await places.list()).toEqual([one.environmentId]);
    const found = await (await provider()).find(one.environmentId, {});
    expect(found?.ref).toEqual(made[0]!.ref);
    expect((await shell(found!, 'id -u')).stdout).toBe('1000\n');
  });

  describe('a command', () => {
    it('has its streams apart, its exit code, and knows the end of its input', async () => {
      const place = await create();
      const script = 'cat; echo to stderr >&2; exit 42';
      const input = [Buffer.from('as bytes'), Readable.from([Buffer.from('as '), Buffer.from('a stream')])];
      for (const stdin of input) {
        const said = await run(place, ['sh', '-c', script], { stdin });
        expect(said).toEqual({
          stdout: expect.stringMatching(/^as (bytes|a stream)$/),
          stderr: 'to stderr\n',
          end: { exitCode: 42 },
        });
      }
      expect((await shell(place, 'cat; echo "$1"', 'no input is an empty one')).stdout).toBe('no input is an empty one\n');
    });

    it('takes and gives megabytes of any bytes, unchanged, also to who reads late', async () => {
      const place = await create();
      const bytes = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, at) => (at * 7919) % 256));
      const process = await place.exec({ argv: ['cat'], stdin: 'open', timeoutMs: null });
      const writing = new Promise<void>((resolve) => {
        process.stdio.write(bytes, () => process.stdio.end(bytes, resolve));
      });
      const got = await buffer(process.stdio);
      await writing;
      expect(got.equals(Buffer.concat([bytes, bytes]))).toBe(true);
      expect(await process.ended).toEqual({ exitCode: 0 });
    });

    it('that nobody reads tells its end', async () => {
      const process = await (await create()).exec({ argv: ['sh', '-c', 'echo x; exit 3'], timeoutMs: LONG_MS });
      expect(await process.ended).toEqual({ exitCode: 3 });
    });

    it('that takes too long is ended, seen from outside', async () => {
      const place = await create();
      const sleep = uniqueSleep();
      const process = await place.exec({ argv: sleep.split(' '), timeoutMs: 3000 });
      expect(await process.ended).toEqual({ lost: 'it took longer than 3000 ms' });
      await until('it is gone', () => processesWith(sleep).length === 0, LONG_MS);
    });

    it('whose view is dropped has its input closed, seen from outside', async () => {
      const place = await create();
      const sleep = uniqueSleep();
      const process = await place.exec({ argv: ['sh', '-c', `${sleep} & cat; kill $!`], stdin: 'open', timeoutMs: null });
      await until('it runs', () => processesWith(sleep).length === 1, LONG_MS);
      process.close();
      expect(await process.ended).toEqual({ lost: 'the view was dropped' });
      await until('it is gone', () => processesWith(sleep).length === 0, LONG_MS);
    });

    it('that is not there says so', async () => {
      const { end } = await run(await create(), ['no-such-program']);
      expect(end).toEqual({ exitCode: expect.toSatisfy((code: number) => code === 126 || code === 127) });
    });
  });

  it('ends of programs whose parents are gone are collected', async () => {
    const place = await create();
    await shell(place, 'for n in 1 2 3 4 5; do (sleep 0.1 &) ; done');
    const states = 'for at in /proc/[0-9]*; do sed -n "s/^State:.//p" "$at/status" 2>/dev/null; done';
    await until('nothing sleeps or waits to be collected', async () => !/Z/.test((await shell(place, states)).stdout), LONG_MS);
  });

  it('limits of processes hold', async () => {
    const place = await create({ processes: 10 });
    const { stdout, stderr } = await shell(place, 'n=0; while [ $n -lt 200 ]; do sleep 60 & n=$((n+1)); done; echo made all');
    expect(stdout).not.toContain('made all');
    expect(stderr).toMatch(/fork|Resource temporarily unavailable/);
  });

  it('behind a root that cannot be written only the environment’s folders can, and nothing stays of them', async () => {
    const place = await create({ readOnlyRoot: true });
    const { stdout } = await shell(
      place,
      'for at in /usr/x /home/agent/x /tmp/x /orrery/env/x; do touch "$at" 2>/dev/null && echo "$at"; done; stat -c "%a %u" /orrery/env',
    );
    expect(stdout).toBe('/tmp/x\n/orrery/env/x\n700 1000\n');
    // Beside what all of them share.
    const volumes = async () => {
      const { text } = await engine().ask('GET', '/volumes');
      const { Volumes } = JSON.parse(text) as { Volumes: { Labels: Record<string, string> | null }[] | null };
      return (Volumes ?? []).filter(({ Labels }) => Labels?.['dev.orrery.shared'] === undefined);
    };
    expect(await volumes()).toHaveLength(1);
    await shell(place, 'head -c 5000000 /dev/zero > /orrery/env/five');
    expect((await place.stats()).diskBytes).toBeGreaterThanOrEqual(5_000_000);
    await place.remove();
    await place.remove();
    expect(await volumes()).toEqual([]);
  });

  it('a directory of this machine is mounted where it is asked for, and only then', async () => {
    const local = mkdtempSync(join(tmpdir(), 'orrery-bind-'));
    try {
      writeFileSync(join(local, 'in'), 'from outside');
      const mountable = [{ local, readOnly: false }];
      const bound = await create({ workspace: 'bind', user: '0:0' }, { mountable });
      expect(bound.mounted).toEqual([{ local, inside: local }]);
      expect((await shell(bound, 'cat "$1/in"; echo from inside > "$1/out"', local)).stdout).toBe('from outside');
      expect(readFileSync(join(local, 'out'), 'utf8')).toBe('from inside\n');
      const foreign = expect.stringContaining('user to "0:0"') as unknown;
      await expect(create({ workspace: 'bind' }, { mountable })).rejects.toMatchObject({
        code: 'backend_unavailable',
        fix: foreign,
      });
      expect(readdirSync(local).toSorted()).toEqual(['in', 'out']);
      const copied = await create({}, { mountable });
      expect([copied.mounted, (await shell(copied, 'ls "$1"', local)).stdout]).toEqual([[], '']);
    } finally {
      rmSync(local, { recursive: true, force: true });
    }
  });
});
