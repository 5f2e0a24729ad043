import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PathGrant } from '../../src/exec/backend.ts';
import { askNode, word } from './stage.ts';
import type { Expectations, Stage } from './stage.ts';

const grant = (path: string, access: PathGrant['access']): PathGrant => ({
  path,
  access,
  scope: 'absolute',
  provenance: 'orrery',
  required: true,
});

/** Tries one thing after the other in `target` and answers for each `ok` or the name of the error. */
const attempts = (target: string, own: string): string => `
  import fs from 'node:fs';
  import { spawnSync } from 'node:child_process';
  const t = ${JSON.stringify(target)}, own = ${JSON.stringify(own)};
  const tried = {};
  const attempt = (name, work) => { try { work(); tried[name] = 'ok'; } catch (e) { tried[name] = e.code ?? String(e); } };
  for (const name of ['taken', 'stolen', 'lnk']) fs.rmSync(own + '/' + name, { force: true });
  fs.writeFileSync(own + '/mine', 'mine');
  attempt('read', () => fs.readFileSync(t + '/secret'));
  attempt('list', () => fs.readdirSync(t));
  attempt('read through a link', () => { fs.rmSync(own + '/lnk', { force: true }); fs.symlinkSync(t + '/secret', own + '/lnk'); fs.readFileSync(own + '/lnk'); });
  attempt('write', () => fs.writeFileSync(t + '/written', 'x'));
  attempt('append', () => fs.appendFileSync(t + '/secret', 'x'));
  attempt('truncate', () => fs.truncateSync(t + '/victim', 0));
  attempt('mkdir', () => fs.mkdirSync(t + '/made'));
  attempt('rename in', () => fs.renameSync(own + '/mine', t + '/renamed'));
  attempt('rename out', () => fs.renameSync(t + '/victim', own + '/taken'));
  attempt('link in', () => { fs.writeFileSync(own + '/mine', 'mine'); fs.linkSync(own + '/mine', t + '/linked'); });
  attempt('link out', () => fs.linkSync(t + '/secret', own + '/stolen'));
  attempt('symlink', () => fs.symlinkSync('anything', t + '/symlinked'));
  attempt('unlink', () => fs.unlinkSync(t + '/gone'));
  attempt('exec', () => { const r = spawnSync(t + '/program'); if (r.error) throw r.error; });
  console.log(JSON.stringify(tried));`;

const OPERATIONS = [
  'read',
  'list',
  'read through a link',
  'write',
  'append',
  'truncate',
  'mkdir',
  'rename in',
  'rename out',
  'link in',
  'link out',
  'symlink',
  'unlink',
  'exec',
];
const MOVES = ['rename in', 'rename out', 'link in', 'link out'];
const READING = ['read', 'list', 'read through a link'];

/** The same by a script, for a directory of the environment itself. */
const FURNISH =
  'mkdir -p inside; for n in secret victim gone; do printf "not for you" > inside/$n; done; printf "#!/bin/sh\ntrue\n" > inside/program; chmod 755 inside/program';

const furnish = (dir: string): void => {
  mkdirSync(dir, { recursive: true });
  for (const name of ['secret', 'victim', 'gone']) writeFileSync(join(dir, name), 'not for you');
  writeFileSync(join(dir, 'program'), '#!/bin/sh\ntrue\n');
  chmodSync(join(dir, 'program'), 0o755);
};

/** Which operations went through. */
const through = (tried: unknown): string[] => OPERATIONS.filter((name) => (tried as Record<string, string>)[name] === 'ok');

const snapshot = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir)
      .toSorted()
      .map((name) => [name, readFileSync(join(dir, name), 'utf8')]),
  );

/** What may be done where: each operation allowed in one place and denied in another. */
export const grantCases = (stage: () => Stage, expectations: Expectations): void => {
  const confined = expectations.confines.files;

  it('everything is allowed in the checkout', async () => {
    const target = join(stage().environment.workdir, 'inside');
    await stage().prepare(FURNISH);
    expect(through(await askNode(stage(), attempts(target, stage().environment.workdir)))).toEqual(OPERATIONS);
  });

  it.runIf(confined)('nothing is allowed in a directory that was not granted, and nothing changed there', async () => {
    furnish(stage().outside);
    const before = snapshot(stage().outside);
    expect(through(await askNode(stage(), attempts(stage().outside, stage().spec.workdir)))).toEqual([]);
    expect(snapshot(stage().outside)).toEqual(before);
  });

  it.runIf(!confined)('a directory that was not granted is open, as the guarantees say', async () => {
    const target = join(stage().root, 'open');
    furnish(target);
    expect(through(await askNode(stage(), attempts(target, stage().spec.workdir)))).toEqual(OPERATIONS);
    expect(stage().environment.guarantees.find(({ guarantee }) => guarantee === 'files')?.held).toBe(false);
  });

  it.runIf(confined).each([
    ['ro', READING],
    ['rox', [...READING, 'exec']],
    ['rw', OPERATIONS.filter((name) => name !== 'exec')],
    ['rwx', OPERATIONS],
  ] as const)('a grant of %s allows exactly that', async (access, allowed) => {
    const target = join(stage().root, `granted-${access}`);
    furnish(target);
    const tried = await askNode(stage(), attempts(target, stage().spec.workdir), { grants: [grant(target, access)] });
    // From one grant to another a backend may be as from one disk to another: a move is then a copy (the next case).
    const within = (name: string): boolean => !MOVES.includes(name) || !access.includes('w');
    expect(through(tried).filter(within)).toEqual(allowed.filter(within));
  });

  it('a file can be moved from one granted directory to another and back', async () => {
    const target = join(stage().root, 'other');
    mkdirSync(target, { recursive: true });
    const script = `echo moved > mine; mv mine ${target}/theirs; mv ${target}/theirs back; cat back; ls ${target}`;
    expect((await stage().run({ args: ['-c', script], grants: [grant(target, 'rwx')] })).stdout.toString()).toBe('moved\n');
  });

  it.runIf(confined)('a grant of one file is that file, and a run’s grants are not those of another run', async () => {
    const script = `import fs from 'node:fs'; const can = (p) => { try { fs.readFileSync(p); return true; } catch { return false; } }; console.log(JSON.stringify([can(${JSON.stringify(join(stage().root, 'files/one'))}), can(${JSON.stringify(join(stage().root, 'files/two'))})]));`;
    mkdirSync(join(stage().root, 'files'), { recursive: true });
    for (const name of ['one', 'two']) writeFileSync(join(stage().root, 'files', name), name);
    expect(await askNode(stage(), script, { grants: [grant(join(stage().root, 'files/one'), 'ro')] })).toEqual([true, false]);
    expect(await askNode(stage(), script)).toEqual([false, false]);
  });

  it('a required grant that is missing is an error, an optional one is not', async () => {
    const missing = join(stage().root, 'nowhere');
    await expect(stage().run({ grants: [grant(missing, 'ro')] })).rejects.toMatchObject({
      code: 'not_found',
      details: { path: missing },
    });
    expect(
      (await stage().run({ args: ['-c', 'exit 0'], grants: [{ ...grant(missing, 'ro'), required: false }] })).end.exitCode,
    ).toBe(0);
  });

  it('the node’s own directories cannot be granted, directly, from above or through a link', async () => {
    const link = join(stage().root, `link-${word()}`);
    symlinkSync(join(stage().root, 'data'), link);
    for (const path of [
      join(stage().root, 'data'),
      stage().root,
      '/',
      link,
      join(stage().place.stateDir, stage().backend.name, stage().spec.id, 'runs'),
    ]) {
      await expect(stage().run({ grants: [grant(path, 'ro')] })).rejects.toMatchObject({ code: 'path_refused' });
    }
  });

  it('a file provided after opening is readable to the run that was granted it', async () => {
    const path = await stage().environment.provide('token', Buffer.from('run-token-content'));
    expect((await stage().run({ command: 'cat', args: [path], grants: [grant(path, 'ro')] })).stdout.toString()).toBe(
      'run-token-content',
    );
    const without = await stage().run({ command: 'cat', args: [path] });
    expect(without.end.exitCode === 0).toBe(!confined);
  });

  it.runIf(confined && expectations.seesNeighbours !== true)(
    'read-only paths inside the checkout cannot be written, replaced or moved away',
    async () => {
      const { workdir } = stage().spec;
      mkdirSync(join(workdir, '.git/hooks'), { recursive: true });
      writeFileSync(join(workdir, '.git/config'), '[core]\n');
      writeFileSync(join(workdir, '.git/index'), '');
      const spec = {
        ...stage().spec,
        id: `env-${word()}`,
        readOnly: [join(workdir, '.git/hooks'), join(workdir, '.git/config'), join(workdir, '.orrery')],
      };
      const environment = await stage().backend.open(spec);
      const script =
        'cd .git; echo x > hooks/pre-commit; echo x >> config; mv config c; mv hooks h; rm -rf hooks config; cd ..; mv .git g; mkdir -p .git/hooks; echo x > .git/hooks/post-checkout; echo fine > .git/index; cat .git/index';
      const handle = await environment.start(stage().runSpec({ args: ['-c', script] }));
      await handle.go();
      await handle.wait();
      await environment.sync();
      expect([
        readdirSync(join(workdir, '.git/hooks')),
        readFileSync(join(workdir, '.git/config'), 'utf8'),
        readFileSync(join(workdir, '.git/index'), 'utf8'),
      ]).toEqual([[], '[core]\n', 'fine\n']);
      expect(existsSync(join(workdir, 'g'))).toBe(false);
      await handle.finish();
      await environment.close();
    },
  );

  it('git works in the checkout: a commit with the private home', async ({ skip }) => {
    skip(!(await stage().has('git')), 'there is no git in the environment');
    const dir = join(stage().environment.workdir, `repo-${word()}`);
    await stage().prepare(`mkdir ${dir}`);
    const script =
      'git init -q . && echo hello > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m first && git log --format=%s && git status --short';
    const { end, stdout, stderr } = await stage().run({ args: ['-c', script], cwd: dir });
    expect([end.exitCode, stdout.toString(), stderr.toString()]).toEqual([0, 'first\n', '']);
  });
};
