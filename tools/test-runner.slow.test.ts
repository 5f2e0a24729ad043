import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STAGES } from './test-stages.ts';

function runner(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'test.ts'), ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('npm test', () => {
  it('lists its stages in order', () => {
    const { status, stdout } = runner('--list');
    const names = stdout.split('\n').map((line) => line.split(' ')[0]);
    expect({ status, names }).toEqual({ status: 0, names: [...STAGES.map(({ name }) => name), ''] });
  });

  it('refuses a stage it does not know, with those it knows and a line to paste', () => {
    expect(runner('--only', 'unit,nonsense')).toEqual({
      status: 2,
      stdout: '',
      stderr: `There is no stage nonsense.\nKnown stages: ${STAGES.map(({ name }) => name).join(', ')}.\nnpm test -- --only unit\n`,
    });
  });

  it('ends with one line of counts that agrees with its exit status', () => {
    const { status, stdout } = runner('--only', 'tidy');
    const last = stdout.trimEnd().split('\n').at(-1);
    expect(['1 passed, 0 failed, 0 skipped', '0 passed, 1 failed, 0 skipped']).toContain(last);
    expect(status).toBe(last?.startsWith('1') ? 0 : 1);
  });
});
