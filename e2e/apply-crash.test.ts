/** Programs that are killed while a result goes into the user's own tree: the Git that writes the files, and the node itself. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { gitIn, writeFiles } from '@orrery/testkit';
import { describe, expect, it } from 'vitest';
import { lentPlaces, type LentPlace } from './support/lent-places.ts';
import { makeRepository } from './support/repository.ts';
import { waitFor } from './support/wait.ts';

/** A filter of the user's that holds a checkout up for as long as Git lives, after it noted which Git that is. */
const holding = ({ folder, row }: LentPlace): { seen: string; filter: string } => {
  const seen = join(folder, `held-${row}`);
  const script = join(folder, `hold-${row}.sh`);
  const lines = [
    // A shell may stand between the two.
    'p=$PPID; while [ "$(cat /proc/$p/comm)" != git ]; do p=$(cut -d" " -f4 /proc/$p/stat); done',
    `[ "$1" = new.txt ] || exec cat; echo $p > '${seen}'`,
    // Git hands its own ends of the pipes to the filter: they do not tell that it has died.
    'while [ -e /proc/$p ] && [ "$(cut -d" " -f3 /proc/$p/stat)" != Z ]; do sleep 0.2; done',
  ];
  writeFileSync(script, `${lines.join('\n')}\n`);
  return { seen, filter: `sh ${script} %f` };
};

const stateOf = (repository: string) => ({
  status: gitIn(repository, 'status', '--porcelain', '--untracked-files=all', '--ignored'),
  head: gitIn(repository, 'rev-parse', 'HEAD'),
  refs: gitIn(repository, 'for-each-ref'),
  own: readFileSync(join(repository, 'mine.txt'), 'utf8'),
  strays: execFileSync('find', ['.git', '-name', '*.lock', '-o', '-name', 'orrery*', '-o', '-name', 'tmp_*'], {
    cwd: repository,
    encoding: 'utf8',
  }),
});

const lend = lentPlaces(() => ({ execution: { backend: 'local' } }));

/** A task's result that waits to be applied to a repository whose filter holds a checkout up. */
const prepare = async (place: LentPlace) => {
  const { seen, filter } = holding(place);
  const repository = makeRepository(place, place.row);
  writeFiles(repository, { '.gitattributes': '*.txt filter=hold\n' });
  gitIn(repository, 'add', '.gitattributes');
  gitIn(repository, 'commit', '-q', '-m', 'attributes');
  const life = await place.up();
  const work = 'echo new > new.txt; echo other > a-other.txt; rm README.md';
  const ran = await place.cli(['run', 'work', '--harness', 'command', '--json', '--', 'sh', '-c', work], { cwd: repository });
  expect(ran.envelope()).toMatchObject({ ok: true });
  writeFileSync(join(repository, 'mine.txt'), 'mine\n');
  gitIn(repository, 'config', 'filter.hold.smudge', filter);
  gitIn(repository, 'config', 'filter.hold.clean', 'cat');
  const before = stateOf(repository);
  const applying = place.cli(['task', 'apply', 'last', '--json']);
  const early = applying.then(({ stdout }) => Promise.reject(new Error(`it was not held up: ${stdout}`)));
  early.catch(() => undefined);
  const held = waitFor('the checkout to be held up', () =>
    existsSync(seen) ? Number(readFileSync(seen, 'utf8')) || null : null,
  );
  const pid = await Promise.race([held, early]);
  return { place, repository, life, before, applying, pid };
};

describe('a result on its way into the user’s tree', () => {
  it('is not there at all after kill -9 of the Git that writes its files, and the same command brings it', async (context) => {
    const { place, repository, before, applying, pid } = await prepare(lend(context));
    process.kill(pid, 'SIGKILL');
    expect((await applying).envelope()).toMatchObject({ ok: false, error: { code: 'git_failed' } });
    expect(stateOf(repository)).toEqual(before);
    gitIn(repository, 'config', 'filter.hold.smudge', 'cat');
    expect((await place.cli(['task', 'apply', 'last', '--json'])).envelope()).toMatchObject({ ok: true });
    expect([readFileSync(join(repository, 'new.txt'), 'utf8'), existsSync(join(repository, 'README.md'))]).toEqual([
      'new\n',
      false,
    ]);
    expect(gitIn(repository, 'status', '--porcelain')).toBe('?? mine.txt');
  }, 240_000);

  it('is taken back by the next start after kill -9 of the node, before anybody is served', async (context) => {
    const { place, repository, life, before, applying } = await prepare(lend(context));
    expect(existsSync(join(repository, '.git/index.lock'))).toBe(true);
    await life.kill();
    await applying;
    await place.up();
    expect(stateOf(repository)).toEqual(before);
    gitIn(repository, 'config', 'filter.hold.smudge', 'cat');
    expect((await place.cli(['task', 'apply', 'last', '--json'])).envelope()).toMatchObject({ ok: true });
    expect(gitIn(repository, 'status', '--porcelain')).toBe('?? mine.txt');
  }, 240_000);
});
