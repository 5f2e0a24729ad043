import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FACTS, readFacts } from './facts.ts';

describe('the facts of a host', () => {
  it.each(['sh', 'bash', 'busybox'])('are said by the text for %s', (shell) => {
    const words = shell === 'busybox' ? ['sh', '-c', FACTS] : ['-c', FACTS];
    const { stdout, error } = spawnSync(shell, words, {
      input: '',
      encoding: 'utf8',
      env: { HOME: '/home/u', SHELL: '/bin/x', PATH: process.env['PATH'] },
    });
    if (error !== undefined && shell !== 'sh') return;
    const facts = readFacts(`welcome=yes\n${stdout}`);
    expect(facts).toMatchObject({ home: '/home/u', shell: '/bin/x', endsLeftovers: false });
    expect(facts!.system).toMatch(/^\w+ \w+$/);
    expect(facts!.path).toMatch(/^\/usr\/.*\/bin$/);
  });

  it('are none while the last line is not there', () => {
    expect(readFacts('system=Linux x86_64\nend=')).toBeNull();
    expect(readFacts('end=.\n')).toMatchObject({ system: '', machine: '' });
  });

  it('name the machine without giving its id away', () => {
    const { machine } = readFacts('machineId=0123456789abcdef\nend=.\n')!;
    expect(machine).toMatch(/^[0-9a-f]{32}$/);
    expect(machine).not.toContain('0123456789abcdef');
  });
});
