import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { doctorReport } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let place: string;

beforeEach(async () => void (place = await mkdtemp(join(tmpdir(), 'orrery-doctor-'))));
afterEach(async () => rm(place, { recursive: true, force: true }));

const examine = async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, '..', 'main.ts'),
    'doctor',
    ...['--data', join(place, 'data'), '--config', join(place, 'config.yaml')],
  ]);
  return doctorReport.parse((JSON.parse(stdout) as { result: unknown }).result).lines;
};

describe('doctor without a node', () => {
  it('says so first, looks at the machine, and makes nothing', async () => {
    const lines = await examine();
    expect(lines[0]).toMatchObject({ area: 'node', state: 'problem', fix: 'orrery up --detach' });
    expect(lines.map(({ area }) => area)).toEqual(
      expect.arrayContaining(['configuration', 'backend sandbox', 'backend local', 'harness claude', 'disk']),
    );
    expect(existsSync(join(place, 'data'))).toBe(false);
  });

  it('names what is wrong with the configuration', async () => {
    await writeFile(join(place, 'config.yaml'), 'exekution: {}\n');
    const failed = examine();
    await expect(failed).rejects.toMatchObject({ stdout: expect.stringContaining('exekution') as string });
  });
});
