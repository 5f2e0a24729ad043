import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MASK } from '../../src/exec/secret-mask.ts';
import { NODE, askNode, until, word } from './stage.ts';
import type { Expectations, Stage } from './stage.ts';

/** Searches everything a program may find secrets in, and answers where `canary` was. Reads it from stdin, so that it is not itself a find. */
const SEARCH = `
  import fs from 'node:fs';
  const canary = fs.readFileSync(0, 'latin1').trim();
  const found = [];
  const look = (place, read) => { try { if (read().includes(canary)) found.push(place); } catch {} };
  look('env', () => JSON.stringify(process.env));
  look('argv', () => process.argv.join());
  let others = 0;
  for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) {
    if (Number(pid) !== process.pid) others++;
    for (const name of ['environ', 'cmdline']) look(name, () => fs.readFileSync('/proc/' + pid + '/' + name, 'latin1'));
  }
  console.log(JSON.stringify({ found: [...new Set(found)].sort(), others }));`;

const search = async (stage: Stage, canary: string): Promise<unknown> => {
  const handle = await stage.start({
    command: stage.venue.node.path,
    args: ['--input-type=module', '-e', SEARCH],
    stdio: 'stream',
  });
  await handle.write('canary', Buffer.from(canary));
  await handle.closeInput();
  let text = '';
  for await (const { bytes } of handle.output('stdout', 0)) text += Buffer.from(bytes).toString();
  await handle.wait();
  await handle.finish();
  return JSON.parse(text);
};

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());

/** Secrets of the node, of its neighbours and of the run itself. */
export const secretCases = (stage: () => Stage, expectations: Expectations): void => {
  it('what the node has in its environment is not in a program’s', async () => {
    const name = `ORRERY_TEST_${word().toUpperCase()}`;
    process.env[name] = word();
    try {
      const { stdout } = await stage().run({ command: 'env' });
      expect(stdout.toString()).not.toContain(name);
      const names = stdout
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.replace(/=.*/s, ''))
        .filter((one) => one !== '_' && one !== 'PWD' && one !== 'SHLVL');
      expect(names.toSorted()).toEqual(['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TEMP', 'TMP', 'TMPDIR', 'USER']);
    } finally {
      delete process.env[name];
    }
  });

  it(
    expectations.confines.processes
      ? 'another process’s environment and arguments cannot be found'
      : 'another process of this user can be seen, as the guarantees say',
    async () => {
      const canary = `canary-${word()}`;
      const other = spawn(NODE, ['-e', 'setTimeout(() => {}, 60000)', canary], { env: { HIDDEN: canary }, stdio: 'ignore' });
      try {
        const answer = (await search(stage(), canary)) as { found: string[]; others: number };
        if (expectations.confines.processes) expect(answer.found).toEqual([]);
        else expect(answer.found).toContain('cmdline');
        if (expectations.seesNeighbours !== true) expect(answer.others < 3).toBe(expectations.confines.processes);
      } finally {
        other.kill('SIGKILL');
      }
    },
  );

  it('a secret in a program’s environment is in no file, no argument and no description', async () => {
    const secret = `secret-${word()}`;
    const spec = stage().runSpec({
      args: ['-c', 'read line; echo "$MY_TOKEN"'],
      stdio: 'stream',
      env: { MY_TOKEN: secret, ODD: `${secret}-odd` },
      secretNames: ['ODD'],
    });
    expect(stage().environment.describe(spec)).not.toContain(secret);
    expect(stage().environment.describe(spec)).toContain(`MY_TOKEN='${MASK}'`);
    const handle = await stage().environment.start(spec);
    await handle.go();
    const holding = filesBelow(stage().place.stateDir).filter((path) => readFileSync(path, 'latin1').includes(secret));
    const arguing = readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(secret);
        } catch {
          return false;
        }
      });
    expect([holding, arguing]).toEqual([[], []]);
    await handle.kill();
    await handle.finish();
  });

  it('what is described is what ran: command, directory, every variable', async () => {
    const script = `console.log(JSON.stringify({ argv: process.argv.slice(1), cwd: process.cwd(), env: process.env }))`;
    const over = {
      command: stage().venue.node.path,
      args: ['-e', script, 'an argument', "it's"],
      env: { PLAIN: 'a b', API_KEY: 'hidden-value' },
    };
    const ran = (await askNode(stage(), '', over)) as { argv: string[]; cwd: string; env: Record<string, string> };
    const described = stage().environment.describe(stage().runSpec(over)).split('\n');
    const field = (name: string): string[] =>
      described.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(11));
    const shown = Object.fromEntries(
      field('env').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).replace(/^'(.*)'$/, '$1')]),
    );
    expect(field('command')[0]).toContain(`'an argument' 'it'\\''s'`);
    expect(field('cwd')).toEqual([ran.cwd]);
    expect(shown).toEqual({ ...ran.env, API_KEY: MASK });
    expect(ran.argv).toEqual(['an argument', "it's"]);
  });

  it('a carried-in file and the state of a run are closed to other users of the machine', async () => {
    const path = await stage().environment.provide(`f-${word()}`, Buffer.from('x'));
    const handle = await stage().start({ command: 'cat', stdio: 'stream' });
    const { spec, venue } = stage();
    const dir = join(await venue.runsOf(spec.id), handle.id);
    await handle.write('seen', Buffer.from('seen\n'));
    const modes = async (): Promise<string[]> =>
      (await venue.shell(spec.id, 'stat -c "%a %n" "$1" "$2" "$2"/*', path, dir)).trim().split('\n');
    await until('the spool', async () => (await modes()).some((line) => line.endsWith('/stdout')));
    const found = await modes();
    const names = found.map((line) => line.slice(line.lastIndexOf('/') + 1));
    expect(names).toEqual(expect.arrayContaining(['input', 'sock', 'spec', 'status', 'stdout']));
    expect(found.filter((line) => !/^[0-7]00 /.test(line))).toEqual([]);
    await handle.kill();
    await handle.finish();
  });

  it('nothing a person might have in their home or the shared /tmp is there', async () => {
    if (!expectations.confines.files) return;
    const name = `/tmp/${word()}`;
    writeFileSync(name, 'x');
    const { end } = await stage().run({
      args: [
        '-c',
        `cat ${name} || ls ${process.env.HOME ?? '/root'}${expectations.seesNeighbours === true ? '' : ' || ls /tmp'}`,
      ],
    });
    expect(end.exitCode).not.toBe(0);
  });

  it('shared memory and terminals are the program’s own: it can make some, and sees nobody else’s', async () => {
    const name = `orrery-${word()}`;
    writeFileSync(`/dev/shm/${name}`, 'x');
    try {
      const { stdout } = await stage().run({
        args: ['-c', `echo mine > /dev/shm/${name}-own; cat /dev/shm/${name}-own; ls /dev/shm /dev/pts`],
      });
      const seen = stdout.toString().split('\n');
      expect(seen[0]).toBe('mine');
      expect(seen.includes(name)).toBe(!expectations.confines.files);
      if (expectations.confines.files) expect(seen.filter((line) => /^\d+$/.test(line))).toEqual([]);
    } finally {
      unlinkSync(`/dev/shm/${name}`);
      if (existsSync(`/dev/shm/${name}-own`)) unlinkSync(`/dev/shm/${name}-own`);
    }
  });

  it('worker processes with shared semaphores work, as test suites of Python use them', async ({ skip }) => {
    skip(!(await stage().has('python3')), 'there is no Python in the environment');
    const script =
      'import multiprocessing as m\nif __name__ == "__main__":\n  with m.Pool(2) as pool: print(pool.map(abs, [-1, -2]))';
    const { stdout, stderr } = await stage().run({ command: 'python3', args: ['-c', script] });
    expect([stdout.toString(), stderr.toString()]).toEqual(['[1, 2]\n', '']);
  });
};
