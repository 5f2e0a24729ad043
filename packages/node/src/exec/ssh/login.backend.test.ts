// Commands on a host: whatever the login shell, whatever its start-up files do, whatever the words.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkShell, noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { placesOn } from '../../../test/ssh/places.ts';
import { runInPlace } from '../remote/command.ts';
import type { Place, PlaceProvider } from '../remote/place.ts';

/** Shells that every machine of the tests has, and others that are tried where they are. */
const SHELLS = [
  { name: 'dash', program: '/usr/bin/dash' },
  { name: 'bash', program: '/usr/bin/bash' },
  { name: 'ash', program: '/usr/bin/busybox' },
  ...['csh', 'tcsh', 'fish', 'zsh', 'ksh'].map((name) => ({ name, program: `/usr/bin/${name}` })),
].filter(({ program }) => existsSync(program));

/** What sshd and a shell set by themselves. */
const OF_A_LOGIN =
  'PATH HOME SHELL LANG USER LOGNAME PWD OLDPWD SHLVL _ MAIL TERM SSH_CLIENT SSH_CONNECTION SSH_AUTH_SOCK XDG_RUNTIME_DIR'.split(
    ' ',
  );

const NOISE = ['.profile', '.bashrc', '.bash_profile', '.zshenv', '.cshrc', '.tcshrc'];

const spec = (environmentId: string) => ({
  environmentId,
  taskId: 'task-1',
  installation: 'installation-1',
  image: null,
  keeps: false,
  project: null,
  limits: {},
  mountable: [],
});

const reason = noSshHost();
if (reason !== null) console.warn(`no host to log in to: ${reason}`);

describe.skipIf(reason !== null)('commands on a host', () => {
  let host: SshHost;
  const ends: (() => void)[] = [];

  beforeAll(async () => {
    host = await startSshHost({
      accounts: (directory) => [
        ...SHELLS.map(({ name, program }, index) => ({ name, uid: 54_400 + index, shell: linkShell(directory, name, program) })),
        { name: 'nologin', uid: 54_399, shell: '/usr/sbin/nologin' },
      ],
    });
    for (const { name } of SHELLS)
      for (const file of NOISE)
        writeFileSync(join(host.home(name), file), 'echo "welcome to this host"\necho noise >&2\nPATH=/nowhere\ncd /tmp\n', {
          mode: 0o644,
        });
  });
  afterAll(async () => {
    for (const end of ends) end();
    await host?.close();
  });

  const openPlaces = (account: string): PlaceProvider => {
    const { places, forget } = placesOn(host, account);
    ends.push(forget);
    return places;
  };

  it.each(SHELLS)(
    'with the login shell $name every word arrives as it is, and start-up files have no part in it',
    async ({ name }) => {
      const places = openPlaces(name);
      await places.preflight();
      const place = await places.create(spec('env-words'), () => undefined);
      const words = [
        'a b',
        "it's",
        '"',
        '$HOME',
        '`id`',
        '\\',
        '\\\\n',
        '!x',
        '* ?',
        '',
        'line\nbreak\n',
        '~',
        '#',
        '%s',
        'ü€',
        '-n',
        '{a,b}',
        '>x',
        ';',
        '&&',
      ];
      const { exitCode, stdout } = await runInPlace(place, [
        'sh',
        '-c',
        'pwd; umask; for word; do printf "%s\\0" "$word"; done',
        'sh',
        ...words,
      ]);
      expect([exitCode, stdout.toString()]).toEqual([0, `/\n0077\n${words.map((word) => `${word}\0`).join('')}`]);
      expect(place.variables['PATH']).toContain('/usr/bin');
      await place.remove();
      expect(existsSync(place.root)).toBe(false);
    },
  );

  it('a login shell that runs nothing is said, with what to do', async () => {
    await expect(openPlaces('nologin').preflight()).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringContaining('not available'),
      fix: expect.stringContaining('may run commands'),
    });
  });

  describe('as root', () => {
    let place: Place;
    beforeAll(async () => {
      place = await openPlaces('root').create(spec('env-root'), () => undefined);
    });
    afterAll(() => place.remove());

    it('bytes go in and come out as they are, much more than any buffer', async () => {
      const bytes = randomBytes(20 * 1024 * 1024);
      const process = await place.exec({
        argv: ['sh', '-c', 'tee "$1" | sha256sum; cat "$1"', 'sh', `${place.root}/bytes`],
        stdin: bytes,
        timeoutMs: null,
      });
      const parts: Buffer[] = [];
      for await (const part of process.stdio as AsyncIterable<Buffer>) parts.push(part);
      const sum = createHash('sha256').update(bytes).digest('hex');
      const all = Buffer.concat(parts);
      expect(all.subarray(0, 64).toString()).toBe(sum);
      expect(all.subarray(all.indexOf('\n') + 1).equals(bytes)).toBe(true);
      expect(await process.ended).toEqual({ exitCode: 0 });
    });

    it('codes and signals are told apart from a lost connection', async () => {
      const codeOf = async (script: string) => (await runInPlace(place, ['sh', '-c', script])).exitCode;
      expect([await codeOf('exit 7'), await codeOf('kill -9 $$'), await codeOf('exit 255')]).toEqual([7, 137, 254]);
      expect((await runInPlace(place, ['no-such-program'])).exitCode).toBe(127);
    });

    it('stdin stays open for who asks for it, and ends when it is ended', async () => {
      const process = await place.exec({ argv: ['cat'], stdin: 'open', timeoutMs: null });
      process.stdio.write('one\n');
      const first = await new Promise<Buffer>((resolve) => {
        process.stdio.once('data', resolve);
      });
      process.stdio.end('two\n');
      const rest: Buffer[] = [];
      for await (const part of process.stdio as AsyncIterable<Buffer>) rest.push(part);
      expect([first.toString(), Buffer.concat(rest).toString(), await process.ended]).toEqual([
        'one\n',
        'two\n',
        { exitCode: 0 },
      ]);
    });

    it('a command that takes too long is given up, and that is no exit code', async () => {
      const process = await place.exec({ argv: ['cat'], stdin: 'open', timeoutMs: 200 });
      process.stdio.resume();
      expect(await process.ended).toEqual({ lost: 'no end within 200 ms' });
    });

    it('nothing of this machine goes along: no variable, no argument', async () => {
      const process = await place.exec({
        argv: ['sh', '-c', 'tr "\\0" "\\n" < /proc/$PPID/environ; env; cat', 'sh', 'a-word-in-argv'],
        stdin: 'open',
        timeoutMs: null,
      });
      const text = await new Promise<string>((resolve) => {
        let said = '';
        process.stdio.on('data', (part: Buffer) => {
          said += part.toString();
          if (said.includes('LOGNAME=')) resolve(said);
        });
      });
      const names = text
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('=')[0]!);
      const logins = host.processes().filter((line) => line.includes('IFS= read'));
      process.close();
      expect(names).toContain('HOME');
      expect(names.filter((name) => !OF_A_LOGIN.includes(name))).toEqual([]);
      expect(logins.every((line) => !line.includes('a-word-in-argv'))).toBe(true);
    });

    it('more sessions at once than one connection takes', async () => {
      const before = host.wire.made();
      const answers = await Promise.all(
        Array.from({ length: 30 }, async (_, index) =>
          (await runInPlace(place, ['sh', '-c', 'sleep 0.5; echo "$1"', 'sh', String(index)])).stdout.toString().trim(),
        ),
      );
      expect(answers).toEqual(Array.from({ length: 30 }, (_, index) => String(index)));
      expect(host.wire.made() - before).toBeLessThan(8);
    });

    it('what it uses is measured there', async () => {
      const { processes, memoryBytes, diskBytes } = await place.stats();
      expect([processes, memoryBytes]).toEqual([0, 0]);
      expect(diskBytes).toBeGreaterThan(20 * 1024 * 1024);
    });
  });

  it('nothing but the keeper program is left of environments that were removed', () => {
    expect(existsSync(join(host.home('dash'), '.local/share/orrery'))).toBe(false);
    expect(readFileSync(join(host.home('dash'), '.profile'), 'utf8')).toContain('welcome');
  });
});
