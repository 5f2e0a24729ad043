import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBackend, GROUPS_BY_USER } from '../../../test/conformance/describe-backend.ts';
import { isNobodysRun, nobodyReads, runAsNobody } from '../../../test/conformance/run-as-nobody.ts';
import { openStage, word } from '../../../test/conformance/stage.ts';
import type { BackendPlace, Stage } from '../../../test/conformance/stage.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { bubblewrapFactory } from './index.ts';
import { findBubblewrap } from './program.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
const root = process.getuid?.() === 0;
const make = (place: BackendPlace) => bubblewrapFactory({ keeper, variables: process.env, ...place }).make({});

const installed = (): boolean => {
  try {
    return findBubblewrap({ named: null, path: process.env.PATH ?? '' }) !== '';
  } catch {
    return false;
  }
};

/** The command lines of every bwrap that runs now, as the machine sees them from outside. */
const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
        return words[0]?.endsWith('/bwrap') === true ? [words.join(' ')] : [];
      } catch {
        return [];
      }
    });

// Skipped aloud where bwrap is missing: the cases are in the report, as skipped.
describe.skipIf(!installed())('with bwrap installed', () => {
  describeBackend(root ? 'bubblewrap as root' : 'bubblewrap as a user', make, {
    confines: { files: true, network: true, processes: true },
    enforces: { memory: root, processes: root },
    ...(isNobodysRun() && { groups: GROUPS_BY_USER }),
  });

  describe('what is bubblewrap’s own', () => {
    let stage: Stage | null = null;
    beforeAll(async () => {
      stage = await openStage((place) => ({ backend: make(place) }));
    });
    afterAll(async () => {
      await stage?.close();
    });
    const at = (): Stage => stage!;

    it('describe shows the very command line of bwrap that runs', async () => {
      const over = { command: 'cat', stdio: 'stream' as const };
      const line = at()
        .environment.describe(at().runSpec(over))
        .split('\n')
        .find((one) => one.startsWith('wrapper '))!;
      const handle = await at().start(over);
      expect(commandLines()).toContain(line.slice('wrapper    '.length));
      await handle.kill();
      await handle.finish();
    });

    it('there is no resolver, no other folder and no process of the machine to be seen', async () => {
      const { stdout } = await at().run({
        args: ['-c', 'cat /etc/resolv.conf /etc/shadow; ls /root /home /var /run /sys; ls /proc | grep -c "^[0-9]"; hostname'],
      });
      expect(Number(stdout.toString().split('\n')[0])).toBeLessThan(6);
    });

    it('a protected path that is not there cannot be made, and nothing of it is left when the environment is closed', async () => {
      const { workdir } = at().spec;
      const readOnly = ['.orrery', '.vscode/settings.json'].map((name) => join(workdir, name));
      const environment = await at().backend.open({ ...at().spec, id: `env-${word()}`, readOnly });
      const script =
        'mkdir .orrery; echo x > .orrery/hook; rmdir .orrery; mv .orrery o; echo x > .vscode/settings.json; rm -r .vscode; mv .vscode v; ln -s /etc .orrery; ls -A; echo fine > .vscode/other; cat .vscode/other; rm .vscode/other';
      const handle = await environment.start(at().runSpec({ args: ['-c', script] }));
      await handle.go();
      let said = '';
      for await (const { bytes } of handle.output('stdout', 0)) said += Buffer.from(bytes).toString();
      await handle.wait();
      await handle.finish();
      await environment.close();
      expect(said).toBe('.orrery\n.vscode\nfine\n');
      expect(readdirSync(workdir)).toEqual([]);
    });

    it('what a node that died had made for a protected path goes with what it left', async () => {
      const { workdir } = at().spec;
      const spec = { ...at().spec, id: `env-${word()}`, readOnly: [join(workdir, '.lost/deep')] };
      const environment = await at().backend.open(spec);
      await Promise.all(
        ['a', 'b'].map(async (runId) => {
          const handle = await environment.start(at().runSpec({ command: 'cat', stdio: 'stream', runId }));
          handle.detach();
        }),
      );
      expect(readdirSync(join(workdir, '.lost'))).toEqual(['deep']);
      expect(await make(at().place).reclaim([at().spec.id])).toEqual([spec.id]);
      expect(existsSync(join(workdir, '.lost'))).toBe(false);
    });

    it('a link in a protected place leads nowhere outside', async () => {
      const { workdir } = at().spec;
      const dir = join(workdir, 'linked');
      mkdirSync(dir);
      symlinkSync(at().outside, join(dir, '.orrery'));
      symlinkSync('/nowhere/at/all', join(dir, 'broken'));
      const open = (name: string) =>
        at().backend.open({ ...at().spec, id: `env-${word()}`, workdir: dir, readOnly: [join(dir, name)] });
      const environment = await open('.orrery/made');
      const handle = await environment.start(at().runSpec({ args: ['-c', 'true'], cwd: dir }));
      await handle.kill();
      await handle.finish();
      await environment.close();
      expect(existsSync(join(at().outside, 'made'))).toBe(false);
      const broken = await open('broken');
      await expect(broken.start(at().runSpec({ args: ['-c', 'true'], cwd: dir }))).rejects.toMatchObject({
        code: 'path_refused',
      });
      await broken.close();
      expect(existsSync('/nowhere')).toBe(false);
    });
  });
});

describe('without bwrap', () => {
  const missing = (place: BackendPlace) =>
    bubblewrapFactory({ keeper, variables: process.env, ...place }).make({ bwrapPath: '/nowhere/bwrap' });
  const place = { stateDir: '/nowhere/exec', protectedPaths: ['/nowhere'] };

  it('preflight says what is missing and how to get it, and no guarantee is held', async () => {
    await expect(missing(place).preflight([])).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: 'bwrap is not installed at /nowhere/bwrap.',
      fix: expect.stringContaining('apt-get install bubblewrap'),
    });
    expect((await missing(place).guarantees()).filter(({ held }) => held)).toEqual([]);
  });

  it.skipIf(!installed())('it is noticed when it comes, by the same node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-no-bwrap-'));
    try {
      const bwrapPath = join(folder, 'bwrap');
      const backend = bubblewrapFactory({ keeper, variables: {}, ...place }).make({ bwrapPath });
      await expect(backend.preflight(['files'])).rejects.toMatchObject({ code: 'backend_unavailable' });
      expect((await backend.guarantees()).filter(({ held }) => held)).toEqual([]);
      symlinkSync(findBubblewrap({ named: null, path: process.env.PATH ?? '' }), bwrapPath);
      await expect(backend.preflight(['files'])).resolves.toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe.runIf(!isNobodysRun())('bubblewrap as a user without rights', () => {
  it.skipIf(!root || !installed())('all cases that differ by the user hold', { timeout: 600_000 }, async ({ skip }) => {
    skip(!nobodyReads(import.meta.filename), 'the sources lie in a directory that other users cannot read');
    const { failures, passed } = await runAsNobody(import.meta.filename);
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  });
});
