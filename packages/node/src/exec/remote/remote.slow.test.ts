import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sampleEnvironment, sampleRun } from '../../../test/exec/sample-specs.ts';
import { collect, ownNode, until } from '../../../test/conformance/stage.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import type { Environment, EnvironmentSpec, RunSpec } from '../backend.ts';
import { createRemoteBackend } from './index.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const newStage = () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-remote-'));
  directories.push(root);
  const spec: EnvironmentSpec = sampleEnvironment({
    workdir: join(root, 'work'),
    home: join(root, 'home'),
    scratchpad: join(root, 'tmp'),
    brokerSocket: join(root, 'broker.sock'),
    limits: { wallMs: 120_000, outputBytes: 1024 ** 3 },
  });
  for (const path of [spec.workdir, spec.home, spec.scratchpad]) mkdirSync(path);
  const places = createFakePlaces(join(root, 'places'));
  const backend = createRemoteBackend(places, remoteParts(join(root, 'state'), { patienceMs: 60_000 }));
  return { root, spec, places, backend };
};

const run = async (environment: Environment, script: string, over: Partial<RunSpec> = {}) => {
  const handle = await environment.start(
    sampleRun({ args: ['-c', script], cwd: environment.workdir, runId: `run-${Math.random().toString(36).slice(2)}`, ...over }),
  );
  await handle.go();
  const [stdout, stderr, end] = await Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
  await handle.finish();
  return { stdout: stdout.toString(), stderr: stderr.toString(), end };
};

describe('an environment in a place', () => {
  it('has the checkout, runs programs in it, and brings back what they did when it is closed', async () => {
    const { root, spec, places, backend } = newStage();
    const at = (path: string): string => join(spec.workdir, path);
    writeFileSync(at('kept'), 'as it was');
    writeFileSync(at('changed'), 'before');
    writeFileSync(at('deleted'), 'not for long');
    mkdirSync(at('folder/deep'), { recursive: true });
    writeFileSync(at('folder/deep/file'), 'x');
    symlinkSync('kept', at('link'));
    const before = statSync(at('kept')).ino;
    const environment = await backend.open(spec);
    expect(environment.workdir).not.toBe(spec.workdir);
    const script = [
      'cat kept; echo; pwd; readlink link',
      'printf after > changed; rm deleted; rm -r folder; printf file > folder',
      'mkdir -p new/a; printf x > new/a/tool; chmod 755 new/a/tool; ln -s ../kept new/link',
      'printf "$HOME $TMPDIR" > where; exit 3',
    ].join('\n');
    const { stdout, end } = await run(environment, script);
    expect([stdout, end.exitCode]).toEqual([`as it was\n${environment.workdir}\nkept\n`, 3]);
    expect(readFileSync(at('changed'), 'utf8')).toBe('before');
    expect(await environment.close()).toEqual({ lost: null });
    expect(readdirSync(spec.workdir).toSorted()).toEqual(['changed', 'folder', 'kept', 'link', 'new', 'where']);
    expect([readFileSync(at('changed'), 'utf8'), readFileSync(at('folder'), 'utf8')]).toEqual(['after', 'file']);
    expect([statSync(at('new/a/tool')).mode & 0o777, readlinkSync(at('new/link'))]).toEqual([0o755, '../kept']);
    expect(readFileSync(at('where'), 'utf8')).toBe(`${environment.home} ${environment.scratchpad}`);
    expect(statSync(at('kept')).ino).toBe(before);
    expect([existsSync(places.rootOf(spec.id)), readdirSync(join(root, 'state/fake'))]).toEqual([false, []]);
  });

  it('brings its memory back with deletions, and the home of one that is kept, under the names that its programs have', async () => {
    const { root, spec, backend } = newStage();
    const memory = join(root, 'memory');
    mkdirSync(join(memory, 'project'), { recursive: true });
    writeFileSync(join(memory, 'project/known'), 'known');
    const grant = { path: memory, access: 'rw', scope: 'absolute', provenance: 'orrery', required: true } as const;
    const kept = { ...spec, memory, keepsHome: true, grants: [...spec.grants, grant] };
    const environment = await backend.open(kept);
    const env = { ORRERY_MEMORY: memory };
    const script = 'cd "$ORRERY_MEMORY/project"; cat known; rm known; printf new > learnt; printf state > "$HOME/state"';
    expect((await run(environment, script, { env })).stdout).toBe('known');
    expect(await environment.close()).toEqual({ lost: null });
    expect(readdirSync(join(memory, 'project'))).toEqual(['learnt']);
    expect(readFileSync(join(spec.home, 'state'), 'utf8')).toBe('state');
  });
  it('brings back the one folder of its home that is kept, and nothing a program made of the way there fails it', async () => {
    const { spec, backend } = newStage();
    const inHome = async (script: string): Promise<void> => {
      const environment = await backend.open({ ...spec, homeKeeps: '.agent/kept' });
      await run(environment, `cd "$HOME"; ${script}`).then(environment.close);
    };
    await inHome('mkdir -p .agent/kept .agent/other; echo one > .agent/kept/1; echo no > .agent/other/2');
    expect(['', 'kept'].map((folder) => readdirSync(join(spec.home, '.agent', folder)))).toEqual([['kept'], ['1']]);
    await inHome('rm -r .agent; ln -s /etc .agent');
    expect(readlinkSync(join(spec.home, '.agent'))).toBe('/etc');
  });

  it('goes on after every cut of its connections: each byte is read once, each input is written once', async () => {
    const { spec, places, backend } = newStage();
    const environment = await backend.open(spec);
    const handle = await environment.start(
      sampleRun({
        args: ['-c', 'n=0; while read line; do n=$((n+1)); echo "$n $line"; echo "e $line" >&2; done; echo bye; exit 5'],
        cwd: environment.workdir,
        stdio: 'stream',
        limits: { wallMs: 120_000, outputBytes: 1_000_000 },
      }),
    );
    await handle.go();
    const reading = Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
    let cuts = 0;
    for (let round = 1; round <= 20; round++) {
      const written = handle.write(`input-${round}`, Buffer.from(`line ${round}\n`));
      cuts += places.cut();
      expect(await written).toEqual({ state: 'written' });
    }
    const closing = handle.closeInput();
    cuts += places.cut();
    await closing;
    const [stdout, stderr, end] = await reading;
    const lines = Array.from({ length: 20 }, (_, n) => n + 1);
    expect(stdout.toString()).toBe(`${lines.map((n) => `${n} line ${n}\n`).join('')}bye\n`);
    expect(stderr.toString()).toBe(lines.map((n) => `e line ${n}\n`).join(''));
    expect([end.exitCode, cuts >= 20]).toEqual([5, true]);
    places.cut();
    await handle.finish();
    await environment.close();
  }, 120_000);

  it('waits while nobody can reach it, and says that it is gone only when it is', async () => {
    const { spec, places, backend } = newStage();
    const environment = await backend.open(spec);
    await run(environment, 'echo one > file');
    await environment.sync();
    expect(readFileSync(join(spec.workdir, 'file'), 'utf8')).toBe('one\n');
    const handle = await environment.start(
      sampleRun({ command: 'sleep', args: ['1000'], cwd: environment.workdir, limits: spec.limits }),
    );
    await handle.go();
    const waiting = handle.wait();
    waiting.catch(() => undefined);
    places.unreachable = true;
    places.cut();
    const asked = handle.tryWait();
    places.unreachable = false;
    expect(await asked).toBeNull();
    await places.sweep(spec.id);
    places.cut();
    await expect(waiting).rejects.toMatchObject({ code: 'keeper_lost' });
    const { lost } = await environment.close();
    expect(lost).toMatch(/is gone.*was not brought back/);
    expect(readFileSync(join(spec.workdir, 'file'), 'utf8')).toBe('one\n');
  }, 120_000);

  it('is opened, synced and closed over connections that break again and again', async () => {
    const { spec, places, backend } = newStage();
    writeFileSync(join(spec.workdir, 'large'), Buffer.alloc(8 * 1024 * 1024, 'x'));
    for (let n = 0; n < 300; n++) writeFileSync(join(spec.workdir, `file-${n}`), String(n));
    let cuts = 0;
    const cutting = async <T>(work: Promise<T>): Promise<T> => {
      let over = false;
      const done = work.finally(() => (over = true));
      for (let tries = 0; !over && tries < 12; tries++) {
        await Promise.race([done, systemClock.sleep(15)]);
        if (places.cut() > 0) cuts += 1;
      }
      return done;
    };
    const environment = await cutting(backend.open(spec));
    await run(environment, 'for f in file-*; do echo more >> $f; done; rm large; head -c 5000000 /dev/zero > other');
    await cutting(environment.sync());
    expect([readFileSync(join(spec.workdir, 'file-7'), 'utf8'), statSync(join(spec.workdir, 'other')).size]).toEqual([
      '7more\n',
      5_000_000,
    ]);
    expect(existsSync(join(spec.workdir, 'large'))).toBe(false);
    await run(environment, 'rm file-1; echo last > file-2');
    expect(await cutting(environment.close())).toEqual({ lost: null });
    expect(readFileSync(join(spec.workdir, 'file-2'), 'utf8')).toBe('last\n');
    expect([existsSync(join(spec.workdir, 'file-1')), cuts > 0, await places.list()]).toEqual([false, true, []]);
  }, 120_000);

  it('reaches the broker again after each cut, without a program noticing more than a connection that ended', async () => {
    const { spec, places, backend } = newStage();
    const broker = createServer((_request, response) => response.end('heard'));
    await new Promise<void>((resolve) => broker.listen(spec.brokerSocket, resolve));
    try {
      const environment = await backend.open({ ...spec, grants: [ownNode.grant] });
      const script = `const url = '${environment.brokerEndpoint}/x'; const ask = async () => { for (;;) try { return await (await fetch(url, { headers: { connection: 'close' } })).text(); } catch { await new Promise((r) => setTimeout(r, 20)); } };
        process.stdin.on('data', async () => console.log(await ask()));`;
      const handle = await environment.start(
        sampleRun({
          command: ownNode.path,
          args: ['-e', script],
          cwd: environment.workdir,
          stdio: 'stream',
          limits: spec.limits,
        }),
      );
      await handle.go();
      let heard = '';
      const reading = (async () => {
        for await (const { bytes } of handle.output('stdout', 0)) heard += Buffer.from(bytes).toString();
      })();
      for (let round = 1; round <= 5; round++) {
        places.cut();
        await handle.write(`ask-${round}`, Buffer.from('?'));
        await until(`answer ${round}`, () => heard === 'heard\n'.repeat(round), 60_000);
      }
      await handle.kill();
      await reading;
      await handle.finish();
      await environment.close();
    } finally {
      broker.closeAllConnections();
      await new Promise((resolve) => broker.close(resolve));
    }
  }, 240_000);

  it('is let go of when the node stops: programs run on, and the next start finds them', async () => {
    const { root, spec, places, backend } = newStage();
    const environment = await backend.open(spec);
    const handle = await environment.start(
      sampleRun({ args: ['-c', 'read line; echo "got $line"'], cwd: environment.workdir, stdio: 'stream', limits: spec.limits }),
    );
    await handle.go();
    const waiting = handle.wait();
    backend.detach?.();
    handle.detach();
    await expect(waiting).rejects.toMatchObject({ code: 'stale' });
    await until('nothing is held open', () => places.cut() === 0, 60_000);
    const next = createRemoteBackend(createFakePlaces(join(root, 'places')), remoteParts(join(root, 'state')));
    const again = await next.reopen(spec);
    const found = await again.reattach(handle.id);
    await found!.write('one', Buffer.from('hello\n'));
    expect((await collect(found!, 'stdout')).toString()).toBe('got hello\n');
    await found!.wait();
    await again.close();
  }, 120_000);

  it('that stays out of reach is given up after its time, is not said to be gone, and is as it was', async () => {
    const { root, spec, places } = newStage();
    const backend = createRemoteBackend(places, remoteParts(join(root, 'state'), { patienceMs: 500 }));
    const environment = await backend.open(spec);
    const handle = await environment.start(
      sampleRun({ command: 'sleep', args: ['1000'], cwd: environment.workdir, limits: spec.limits }),
    );
    await handle.go();
    const waiting = handle.wait();
    waiting.catch(() => undefined);
    places.unreachable = true;
    places.cut();
    await expect(handle.write('late', Buffer.from('x'))).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(waiting).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(environment.sync()).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(environment.close()).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(backend.reopen(spec)).rejects.toMatchObject({ code: 'backend_unreachable' });
    places.unreachable = false;
    const again = await backend.reopen(spec);
    const found = await again.reattach(handle.id);
    expect(await found!.tryWait()).toBeNull();
    expect(await again.close()).toEqual({ lost: null });
  }, 120_000);

  it('brings back links as links: nothing outside of the checkout is touched through them', async () => {
    const { root, spec, backend } = newStage();
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'file'), 'mine');
    mkdirSync(join(spec.workdir, 'folder'));
    writeFileSync(join(spec.workdir, 'folder/file'), 'before');
    const environment = await backend.open(spec);
    await run(environment, `rm -r folder; ln -s ${outside} folder; ln -s /etc/passwd link`);
    await environment.sync();
    expect([readlinkSync(join(spec.workdir, 'folder')), readFileSync(join(outside, 'file'), 'utf8')]).toEqual([outside, 'mine']);
    await run(environment, 'rm folder; mkdir folder; echo evil > folder/file; rm link; echo own > link');
    await environment.close();
    expect([readFileSync(join(spec.workdir, 'folder/file'), 'utf8'), readFileSync(join(outside, 'file'), 'utf8')]).toEqual([
      'evil\n',
      'mine',
    ]);
    expect(readdirSync(outside)).toEqual(['file']);
  });
});
