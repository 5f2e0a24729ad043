// The pure parts of the backend docker: where the engine is, which image, who, and what its answers mean.
import { version } from '@orrery/protocol/version';
import { describe, expect, it } from 'vitest';
import { sampleOptions } from '../../../test/docker/samples.ts';
import { parseBackendOptions } from '../options.ts';
import { findSocket } from './address.ts';
import { demux } from './demux.ts';
import { memoryKillsIn } from '../remote/memory-kills.ts';
import { explainMemory } from './explain.ts';
import { chooseImage } from './image.ts';
import { describeEngine, limitsFor } from './kind.ts';
import { isOwned, labelFilter } from './labels.ts';
import { STANDARD_IMAGE, dockerOptions } from './options.ts';
import { memoryOf, placeVariables } from './place.ts';
import { programsOfImage } from './programs.ts';
import { firstFile, folderArchive } from './tar.ts';
import { chooseUser, refuseRoot, resolveUser } from './user.ts';
import { checkEngine } from './walls.ts';

describe('where the engine listens', () => {
  const search = { socket: null, variables: {}, uid: 1000, exists: () => true };
  it('is what was named, DOCKER_HOST, then the usual places', () => {
    const only = (there: string) => (path: string) => path === there;
    expect([
      findSocket({ ...search, socket: '/a.sock', variables: { DOCKER_HOST: 'unix:///b.sock' } }),
      findSocket({ ...search, variables: { DOCKER_HOST: 'unix:///b.sock' } }),
      findSocket(search),
      findSocket({ ...search, exists: only('/run/user/1000/podman/podman.sock') }),
      findSocket({ ...search, variables: { XDG_RUNTIME_DIR: '/x' }, exists: only('/x/docker.sock') }),
    ]).toEqual(['/a.sock', '/b.sock', '/var/run/docker.sock', '/run/user/1000/podman/podman.sock', '/x/docker.sock']);
  });

  it('is never another one than the one that was named', () => {
    const missing = { ...search, socket: '/a.sock', exists: (path: string) => path !== '/a.sock' };
    expect(() => findSocket(missing)).toThrow(
      expect.objectContaining({ code: 'backend_unavailable', details: { places: ['/a.sock'] } }),
    );
  });

  it('is no network port, and what is said of one holds no password', () => {
    const over = { ...search, variables: { DOCKER_HOST: 'tcp://me:canary@host:2375' } };
    expect(() => findSocket(over)).toThrow(
      expect.objectContaining({ code: 'backend_unavailable', message: expect.not.stringContaining('canary') }),
    );
  });
});

describe('which engine it is', () => {
  it('is told for people, and Podman is told what it would ask too much of', () => {
    expect([
      describeEngine({ ServerVersion: '20.10.24' }),
      describeEngine({ ServerVersion: '27.1', SecurityOptions: ['name=rootless'] }),
      describeEngine({ ServerVersion: '4.3.1', BuildahVersion: '1.28.2', Rootless: true }),
      describeEngine({ BuildahVersion: '1' }),
    ]).toEqual(['Docker 20.10.24', 'Docker 27.1, rootless', 'Podman 4.3.1, rootless', 'Podman of an unknown version']);
    const limits =
      'Limit      Soft Limit  Hard Limit\nMax processes      10      96363     processes\nMax open files     1024    20000     files\n';
    const one = (Name: string, hard: number) => ({ Name, Soft: hard, Hard: hard });
    expect(limitsFor('docker', { limits, mostProcesses: '32768\n' })).toEqual([]);
    expect(limitsFor('podman', { limits, mostProcesses: '32768\n' })).toEqual([one('nofile', 20_000), one('nproc', 32_768)]);
    expect(limitsFor('podman', { limits: limits.replaceAll(/\d{5}/g, 'unlimited'), mostProcesses: '' })).toEqual([]);
  });
});

describe('options', () => {
  it('a wrong key is an error that guesses the right one', () => {
    expect(() => parseBackendOptions('docker', dockerOptions, { toolPath: [] })).toThrow(
      expect.objectContaining({ code: 'unknown_key', fix: 'Did you mean "toolPaths"?' }),
    );
  });

  it.each([{ user: 'root' }, { socket: 'docker.sock' }, { image: 'a b' }, { pull: 'sometimes' }, { toolPaths: ['/a:/b'] }])(
    '%j is refused',
    (options) => {
      expect(() => parseBackendOptions('docker', dockerOptions, options)).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      );
    },
  );
});

describe('the image', () => {
  it('is the project’s, then the operator’s, then the standard one', () => {
    const options = sampleOptions({ image: 'own/image:1' });
    const chosen = [chooseImage('team/a:1', options), chooseImage(null, options), chooseImage(null, sampleOptions())];
    expect(chosen).toEqual(['team/a:1', 'own/image:1', STANDARD_IMAGE]);
  });
});

describe('who programs are', () => {
  const files = { passwd: 'root:x:0:0::/:/bin/sh\nagent:x:1001:1002::/:/bin/sh\ntoor:x:0:0::/:/bin/sh', group: 'staff:x:50:' };
  it('is the option, the image’s own user, and never root by chance', () => {
    expect([
      chooseUser('5:6', 'agent'),
      chooseUser(null, 'agent'),
      ...['', 'root', '0:0', null].map((user) => chooseUser(null, user)),
    ]).toEqual(['5:6', 'agent', ...Array.from({ length: 4 }, () => '1000:1000')]);
    expect(() => refuseRoot(resolveUser('toor', files), null)).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
    expect(refuseRoot({ uid: 0, gid: 0 }, '0:0')).toEqual({ uid: 0, gid: 0 });
  });

  it('is known in numbers', () => {
    expect(['agent', 'agent:staff', '7', '7:8', '1001'].map((user) => resolveUser(user, files))).toEqual([
      { uid: 1001, gid: 1002 },
      { uid: 1001, gid: 50 },
      { uid: 7, gid: 0 },
      { uid: 7, gid: 8 },
      { uid: 1001, gid: 1002 },
    ]);
    expect(() => resolveUser('nobody-knows', files)).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});

describe('frames of a connection', () => {
  const frame = (stream: number, text: string): Buffer => {
    const header = Buffer.alloc(8);
    header[0] = stream;
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const read = async (bytes: Buffer, size: number) => {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    const source = (async function* () {
      yield* parts;
    })();
    const said = { stdout: '', stderr: '' };
    for await (const part of demux(source, (error) => (said.stderr += error.toString()))) said.stdout += part.toString();
    return said;
  };
  const bytes = Buffer.concat([frame(1, 'one'), frame(2, 'bad'), frame(1, ''), frame(1, 'two')]);

  it.each([1, 2, 7, 8, 9, 1000])('are taken apart when they come in pieces of %i bytes', async (size) => {
    expect(await read(bytes, size)).toEqual({ stdout: 'onetwo', stderr: 'bad' });
  });

  it.each([bytes.length - 1, 4])('that break off after %i bytes are an error', async (length) => {
    await expect(read(bytes.subarray(0, length), 100)).rejects.toThrow('within a frame');
  });
});

describe('labels', () => {
  it('are believed by their values, not by an engine’s filter', () => {
    const mine = { 'dev.orrery.installation': 'a', 'dev.orrery.environment': 'e' };
    expect([
      isOwned(mine, { installation: 'a' }),
      isOwned(mine, { installation: 'a', environmentId: 'e' }),
      isOwned(mine, { installation: 'b' }),
      isOwned(mine, { installation: 'a', environmentId: 'f' }),
      isOwned({ 'dev.orrery.installation': 'a' }, { installation: 'a' }),
      isOwned(null, { installation: 'a' }),
    ]).toEqual([true, true, false, false, false, false]);
    expect(labelFilter({ installation: 'a' })).toEqual({ label: ['dev.orrery.installation=a', 'dev.orrery.environment'] });
  });
});

describe('what the engine says', () => {
  it('of variables only a path and a language are taken', () => {
    expect(placeVariables(['PATH=/opt/bin:/bin', 'LANG=', 'API_TOKEN=canary', 'ODD'])).toEqual({
      PATH: '/opt/bin:/bin',
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
    });
  });

  it('of memory counts what cannot be given back; what is not measured stays unknown', () => {
    expect(memoryOf({ memory_stats: { usage: 100, stats: { inactive_file: 40 } } })).toBe(60);
    expect(memoryOf({ memory_stats: { usage: 100, stats: { total_inactive_file: 10 } } })).toBe(90);
    expect(memoryOf({})).toBeNull();
  });

  it('of a lack of memory is said in words', () => {
    const second = 'low 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n';
    expect([memoryKillsIn(second), memoryKillsIn('oom_kill_disable 0\nunder_oom 0\noom_kill 1'), memoryKillsIn('')]).toEqual([
      2, 1, 0,
    ]);
    expect([explainMemory(0, false, 1), explainMemory(1, false, 256 * 1024 * 1024), explainMemory(0, true, 0)]).toEqual([
      null,
      'The container reached its limit of 256 MB: the kernel ended 1 program.',
      "The container reached the machine's memory: the kernel ended everything in it.",
    ]);
  });

  it.each([{ SecurityOptions: [] }, { OSType: 'windows' }, { MemoryLimit: false }, { PidsLimit: false }])(
    'an engine with %j is refused',
    (weaker) => {
      const good = { OSType: 'linux', SecurityOptions: ['name=seccomp,profile=default'], MemoryLimit: true, PidsLimit: true };
      expect(() => checkEngine(good)).not.toThrow();
      expect(() => checkEngine({ ...good, ...weaker })).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
    },
  );
});

describe('programs that an image has', () => {
  const local = { programs: '/data/programs', node: '/node/bin' };
  const labels = { 'dev.orrery.version': version, 'dev.orrery.programs': '/opt/programs', 'dev.orrery.node': '/usr/local/bin' };
  it('are used there by a node of the same version', () => {
    expect(programsOfImage(labels, local)).toEqual([
      { local: '/data/programs', inside: '/opt/programs' },
      { local: '/node/bin', inside: '/usr/local/bin' },
    ]);
  });

  it.each([{ 'dev.orrery.version': '0.0.0' }, { 'dev.orrery.programs': '../x', 'dev.orrery.node': 'bin' }])(
    'are not when the label is %j',
    (wrong) => {
      expect(programsOfImage({ ...labels, ...wrong }, local)).toEqual([]);
      expect(programsOfImage(null, local)).toEqual([]);
    },
  );
});

describe('archives', () => {
  it('a folder has its mode and owner, and no file is found in it', () => {
    const archive = folderArchive([{ name: 'orrery', mode: 0o700, uid: 1000, gid: 100 }]);
    expect(archive.length % 512).toBe(0);
    expect([
      archive.toString('latin1', 0, 7),
      archive.toString('latin1', 100, 107),
      archive.toString('latin1', 108, 115),
    ]).toEqual(['orrery/', '0000700', '0001750']);
    expect(firstFile(archive)).toBeNull();
  });

  it('a file that is shorter than it says is no file', () => {
    const archive = folderArchive([{ name: 'a', mode: 0o600, uid: 0, gid: 0 }]);
    archive.write('0', 156, 'latin1');
    archive.write('00000000005\0', 124, 'latin1');
    const whole = Buffer.concat([archive.subarray(0, 512), Buffer.from('hello'), Buffer.alloc(507)]);
    expect(firstFile(whole)?.toString()).toBe('hello');
    expect(firstFile(whole.subarray(0, 514))).toBeNull();
  });
});
