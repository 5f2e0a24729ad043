import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleEnvironment } from '../../../test/exec/sample-specs.ts';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { remoteParts } from '../../../test/remote/remote-parts.ts';
import { createRemoteBackend } from './index.ts';

it('a file of a program is written below its home in the place, and through no link of an agent', async () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-home-files-'));
  try {
    const spec = sampleEnvironment({
      workdir: join(root, 'work'),
      home: join(root, 'home'),
      scratchpad: join(root, 'tmp'),
      brokerSocket: join(root, 'broker.sock'),
    });
    for (const path of [spec.workdir, spec.home, spec.scratchpad]) mkdirSync(path);
    const backend = createRemoteBackend(
      createFakePlaces(join(root, 'places')),
      remoteParts(join(root, 'state'), { patienceMs: 60_000 }),
    );
    const environment = await backend.open(spec);
    const { home } = environment;
    await environment.writeHomeFile('.config/a b/it is *.toml', 'one');
    await environment.writeHomeFile('.config/a b/it is *.toml', 'two');
    const file = join(home, '.config/a b/it is *.toml');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777, readdirSync(join(file, '..'))]).toEqual([
      'two',
      0o600,
      ['it is *.toml'],
    ]);
    await environment.writeHomeFile('../../plain', 'below');
    expect(readFileSync(join(home, 'plain'), 'utf8')).toBe('below');
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'kept'), 'mine');
    symlinkSync(elsewhere, join(home, '.codex'));
    symlinkSync(join(elsewhere, 'kept'), join(home, 'file'));
    for (const path of ['.codex/config.toml', '.codex/deep/config.toml', 'plain/file'])
      await expect(environment.writeHomeFile(path, 'x')).rejects.toMatchObject({ code: 'conflict' });
    await environment.writeHomeFile('file', 'x');
    expect([readdirSync(elsewhere), readFileSync(join(elsewhere, 'kept'), 'utf8')]).toEqual([['kept'], 'mine']);
    await environment.close();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
