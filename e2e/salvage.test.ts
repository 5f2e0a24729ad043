/** Saved work that is no commit: files of a place that nobody came back to. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { placeOfTest } from './support/place.ts';

it('an archive of a lost place is shown, unpacked and deleted by the commands for saved work, and by age', async () => {
  const place = placeOfTest();
  await place.up();
  const [lost, old] = ['env_01j0000000000000000000000a', 'env_01j0000000000000000000000b'];
  const kept = join(place.data, 'keeper/salvage');
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(place.folder, 'work.txt'), 'work');
  for (const id of [lost, old]) execFileSync('tar', ['-C', place.folder, '-cf', join(kept, `${id}.tar`), 'work.txt']);
  utimesSync(join(kept, `${old}.tar`), 1_000_000, 1_000_000);
  const said = async (...args: readonly string[]): Promise<string> => {
    const answer = await place.cli(args);
    return `${answer.code} ${answer.stdout}${answer.stderr}`;
  };
  expect(await said('salvage', 'list')).toMatch(new RegExp(`^0 [^]*${lost} +\\(unknown\\)[^]*${old}`));
  expect(await said('salvage', 'show', lost)).toMatch(/^0 [^]*size[^]*work\.txt[^]*--folder FOLDER/);
  expect(await said('salvage', 'restore', lost)).toContain(`orrery salvage restore ${lost} --folder FOLDER`);
  expect(await said('salvage', 'restore', lost, '--folder', 'rescued')).toMatch(/^0 /);
  expect(readFileSync(join(place.folder, 'rescued/work.txt'), 'utf8')).toBe('work');
  expect(await said('salvage', 'restore', lost, '--folder', 'rescued')).toMatch(/^10 [^]*is there already/);
  expect(await said('doctor')).toMatch(/✓ salvage +2 archives of lost places take \d+ MiB, the oldest is \d{4,} days old/);
  expect(await said('salvage', 'prune', '--older-than', '30d', '--dry-run')).toMatch(new RegExp(`^0 [^]*${old} +would go`));
  expect(existsSync(join(kept, `${old}.tar`))).toBe(true);
  expect(await said('salvage', 'prune', '--older-than', '30d')).toMatch(new RegExp(`^0 [^]*${old} +deleted`));
  expect(await said('salvage', 'delete', lost)).toMatch(/^0 /);
  expect([existsSync(join(kept, `${old}.tar`)), existsSync(join(kept, `${lost}.tar`))]).toEqual([false, false]);
  expect(await said('salvage', 'delete', lost)).toMatch(/^3 [^]*orrery salvage list/);
});
