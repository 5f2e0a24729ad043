// Programs that environments of a place share: brought once, whole or not at all, and never trusted unseen.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { word } from '../../../test/conformance/stage.ts';
import { sampleEnvironment } from '../../../test/exec/sample-specs.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import { runScript } from '../../../test/remote/scripts.ts';
import type { Environment, EnvironmentSpec } from '../backend.ts';
import { createRemoteBackend } from './index.ts';

let root = '';
let program = '';
let shared = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-shared-'));
  shared = join(root, 'shared');
  program = join(root, 'local', 'an agent program');
  mkdirSync(join(program, 'lib'), { recursive: true });
  writeFileSync(join(program, 'run'), '#!/bin/sh\ncat "$(dirname "$0")/lib/words"\n');
  chmodSync(join(program, 'run'), 0o755);
  writeFileSync(join(program, 'lib/words'), 'it runs\n');
  symlinkSync('run', join(program, 'alias'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** An environment of a node of its own, with the program granted. */
const open = async (): Promise<{ environment: Environment; spec: EnvironmentSpec; link: string }> => {
  const id = `env-${word()}`;
  const [workdir, home, scratchpad] = ['work', 'home', 'tmp'].map((name) => join(root, id, name)) as [string, string, string];
  for (const path of [workdir, home, scratchpad]) mkdirSync(path, { recursive: true });
  const grant = { path: program, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true } as const;
  const limits = { wallMs: 120_000, outputBytes: 1_000_000 };
  const spec = sampleEnvironment({ id, workdir, home, scratchpad, grants: [grant], limits, brokerSocket: join(root, 'b.sock') });
  const places = createFakePlaces(join(root, 'places'), { shared });
  const backend = createRemoteBackend(places, remoteParts(join(root, id, 'state'), { patienceMs: 60_000 }));
  const environment = await backend.open(spec);
  const carried = join(places.rootOf(id), 'carried');
  return { environment, spec, link: readlinkSync(join(carried, readdirSync(carried)[0] ?? '', 'an agent program')) };
};
const runs = (environment: Environment): Promise<string> => runScript(environment, `'${program}/alias'`);
const entries = (): string[] => readdirSync(shared).toSorted();
const past = (days: number): Date => new Date(Date.now() - days * 86_400_000);

describe('programs that environments share', () => {
  it('are brought once, run from there, and stay when the environments are closed', async () => {
    const first = await open();
    expect(await runs(first.environment)).toBe('it runs\n');
    const second = await open();
    expect([second.link, entries().length]).toEqual([first.link, 1]);
    await first.environment.close();
    expect(await runs(second.environment)).toBe('it runs\n');
    await second.environment.close();
    expect((await open()).link).toBe(first.link);
  });

  it('are others when what they hold is another: a byte, a mode, a link', async () => {
    const links = [(await open()).link];
    for (const change of [
      () => writeFileSync(join(program, 'lib/words'), 'It runs\n'),
      () => chmodSync(join(program, 'run'), 0o700),
      () => symlinkSync('lib', join(program, 'library')),
    ]) {
      change();
      links.push((await open()).link);
    }
    expect(new Set(links).size).toBe(4);
    // Made again, with other times: the same.
    const words = join(program, 'lib/words');
    utimesSync(words, past(100), past(100));
    expect((await open()).link).toBe(links.at(-1));
  });

  it('that somebody changed there are not used: they are brought anew', async () => {
    const { link } = await open();
    appendFileSync(join(link, 'run'), 'echo and more\n');
    const again = await open();
    expect(again.link).not.toBe(link);
    expect(await runs(again.environment)).toBe('it runs\n');
  });

  it('of a node that was killed in the middle are not used, and go after a day', async () => {
    const { link } = await open();
    const entry = dirname(link);
    rmSync(join(entry, 'seal'));
    rmSync(join(link, 'lib'), { recursive: true });
    rmSync(join(root, 'places'), { recursive: true });
    const again = await open();
    expect(await runs(again.environment)).toBe('it runs\n');
    expect(existsSync(entry)).toBe(true);
    utimesSync(entry, past(3), past(3));
    writeFileSync(join(program, 'lib/words'), 'newer\n');
    await open();
    expect(existsSync(entry)).toBe(false);
  });

  it('are brought by two nodes at once, and each has a whole one', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    expect(await Promise.all(opened.map(({ environment }) => runs(environment)))).toEqual([
      'it runs\n',
      'it runs\n',
      'it runs\n',
    ]);
    // From now on all have the same.
    expect(new Set([(await open()).link, (await open()).link]).size).toBe(1);
  });

  it('that nobody used for long go with the next that is brought, but none that an environment leads to', async () => {
    const used = await open();
    writeFileSync(join(program, 'lib/words'), 'second\n');
    const unused = await open();
    await unused.environment.close();
    for (const { link } of [used, unused]) utimesSync(dirname(link), past(30), past(30));
    writeFileSync(join(program, 'lib/words'), 'third\n');
    const third = await open();
    expect(entries()).toEqual([used, third].map(({ link }) => basename(dirname(link))).toSorted());
    expect(await runs(used.environment)).toBe('it runs\n');
  });

  it('can be written by no program', async () => {
    const { environment, link } = await open();
    const script = `for path in '${link}/run' '${link}/new' '${shared}/new'; do (echo x > "$path") 2>/dev/null && echo "wrote $path"; done; true`;
    expect(await runScript(environment, script)).toBe('');
  });
});
