// Whom the node talks to: a host whose key somebody accepted, and nobody else; and what it says when it cannot.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { placesOn } from '../../../test/ssh/places.ts';
import type { PlaceProvider } from '../remote/place.ts';

const fingerprintOf = (key: string): string => /SHA256:\S+/.exec(spawnSync('ssh-keygen', ['-lf', key]).stdout.toString())![0];

describe.skipIf(noSshHost() !== null)('the key of a host', () => {
  let host: SshHost;
  let known = '';
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    host = await startSshHost();
    known = readFileSync(host.knownHosts, 'utf8');
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
    writeFileSync(host.knownHosts, known);
  });
  afterAll(() => host?.close());

  const newPlaces = (options: Record<string, unknown> = {}): PlaceProvider => {
    const { places, forget } = placesOn(host, 'root', options);
    ends.push(forget);
    return places;
  };

  it('that nobody accepted is shown and not talked to; the command that is named accepts it', async () => {
    writeFileSync(host.knownHosts, '');
    const places = newPlaces();
    const fingerprint = fingerprintOf(join(host.directory, 'host_key.pub'));
    const error = await places.preflight().then(
      () => null,
      (thrown: unknown) => thrown as { message: string; fix: string; code: string },
    );
    expect(error).toMatchObject({ code: 'backend_unavailable', message: expect.stringContaining(fingerprint) });
    expect(host.processes().filter((line) => line.includes('IFS= read'))).toEqual([]);
    const command = /accept it: (ssh .*)$/.exec(error!.fix)![1]!;
    // A person compares, and types the fingerprint.
    const person = join(host.directory, 'person');
    writeFileSync(person, `#!/bin/sh\necho '${fingerprint}'\n`, { mode: 0o755 });
    const asking = { ...process.env, SSH_ASKPASS: person, SSH_ASKPASS_REQUIRE: 'force' };
    // Not waited for in a way that stops this process: the line to the host is in it.
    const accepting = spawn('sh', ['-c', command], { stdio: 'ignore', env: asking });
    expect((await once(accepting, 'close'))[0]).toBe(0);
    await places.preflight();
  });

  it('that changed is refused, also by what looks after environments: nothing is said to be gone', async () => {
    await host.changeKey();
    try {
      const places = newPlaces();
      const changed = {
        message: expect.stringMatching(/has changed; it shows SHA256:.*Nothing was sent/),
        fix: expect.stringContaining(`ssh-keygen -R`),
      };
      await expect(places.preflight()).rejects.toMatchObject({ code: 'backend_unavailable', ...changed });
      const ref = { host: 'box-root', machine: '', bootId: '', home: '/root', root: '/root/.local/share/orrery/env/i/e' };
      await expect(places.find('e', ref)).rejects.toMatchObject({ code: 'backend_unreachable', ...changed });
      await expect(places.list()).rejects.toMatchObject({ code: 'backend_unreachable' });
    } finally {
      const [type, key] = readFileSync(join(host.directory, 'host_key.pub'), 'utf8').split(' ');
      known = `box ${type} ${key}\n`;
    }
  });

  it.each([
    ['a login that is not let in', { identity: '/dev/null' }, 'not let this user in'],
    ['a configuration that is not there', { config: '/no/such/config' }, 'configuration cannot be used'],
    ['a name nobody knows', { host: 'no-such-host.invalid' }, 'cannot be reached'],
    ['no client', { sshPath: '/no/such/ssh' }, 'no OpenSSH client'],
  ])('%s is said, with what to do', async (_what, options, message) => {
    const broken = { ...options };
    if ('identity' in options) {
      const config = join(host.directory, 'config-without-key');
      writeFileSync(config, readFileSync(host.config, 'utf8').replaceAll(/IdentityFile .*/g, 'IdentityFile none'));
      Object.assign(broken, { config, identity: null });
    }
    await expect(newPlaces(broken).preflight()).rejects.toMatchObject({
      message: expect.stringContaining(message),
      fix: expect.stringMatching(/ssh/),
    });
  });

  it('a host that is away is not a host without environments', async () => {
    const places = newPlaces();
    const place = await places.create(
      {
        environmentId: 'env-1',
        taskId: 't',
        installation: 'i',
        image: null,
        keeps: false,
        project: null,
        limits: {},
        mountable: [],
      },
      () => undefined,
    );
    expect(await place.state()).toEqual({ state: 'running' });
    host.wire.cut();
    host.wire.refuse(true);
    expect(await place.state()).toMatchObject({ state: 'unknown' });
    await expect(places.find('env-1', place.ref)).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(places.list()).rejects.toMatchObject({ code: 'backend_unreachable' });
    await expect(places.sweep('env-1')).rejects.toMatchObject({ code: 'backend_unreachable' });
    host.wire.refuse(false);
    expect([await places.list(), (await places.find('env-1', place.ref))?.root]).toEqual([['env-1'], place.root]);
    expect(await place.explain()).toBeNull();
    await host.stop();
    await host.start();
    expect(await place.explain()).toBe('The host box-root was restarted.');
    expect(await place.state()).toEqual({ state: 'running' });
    await places.sweep('env-1');
    expect([await places.find('env-1', place.ref), await place.state()]).toMatchObject([null, { state: 'gone' }]);
    for (const path of ['.local/share/orrery', '.cache/orrery']) expect(existsSync(join(host.home('root'), path))).toBe(false);
  });

  it('another machine behind the same name says nothing about an environment of the first', async () => {
    const places = newPlaces();
    const place = await places.create(
      {
        environmentId: 'env-2',
        taskId: 't',
        installation: 'i',
        image: null,
        keeps: false,
        project: null,
        limits: {},
        mountable: [],
      },
      () => undefined,
    );
    const elsewhere = { ...place.ref, machine: 'f'.repeat(32) };
    if (place.ref['machine'] === '') return;
    await expect(places.find('env-2', elsewhere)).rejects.toMatchObject({
      code: 'backend_unreachable',
      message: expect.stringContaining('another machine'),
    });
    await place.remove();
  });
});
