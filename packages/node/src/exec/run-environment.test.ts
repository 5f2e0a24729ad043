import { describe, expect, it } from 'vitest';
import { sampleEnvironment, sampleRun } from '../../test/exec/sample-specs.ts';
import { buildRunEnvironment } from './run-environment.ts';

const machine = {
  variables: { PATH: '/machine/bin', HOME: '/home/someone', TMPDIR: '/tmp', LANG: 'de', MY_TOKEN: 'canary', ORRERY_DATA: '/d' },
  user: 'someone',
};
const environment = sampleEnvironment();

describe('the variables of a program', () => {
  it('are the private places, a path, a language and who it is; nothing of the node', () => {
    expect(buildRunEnvironment(environment, sampleRun(), machine)).toEqual({
      HOME: '/w/home',
      TMPDIR: '/w/tmp',
      TMP: '/w/tmp',
      TEMP: '/w/tmp',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      USER: 'someone',
      LOGNAME: 'someone',
    });
  });

  it('a name passed through means what it means here: PATH of the machine, HOME of the environment', () => {
    const env = buildRunEnvironment(
      environment,
      sampleRun({ envPassthrough: ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NOT_SET'], env: { CI: '1' }, stdio: 'pty' }),
      machine,
    );
    expect(env).toMatchObject({
      PATH: '/machine/bin',
      HOME: '/w/home',
      TMPDIR: '/w/tmp',
      LANG: 'de',
      CI: '1',
      TERM: 'xterm-256color',
    });
    expect('NOT_SET' in env).toBe(false);
  });

  it.each(['MY_TOKEN', 'ORRERY_DATA'])('%s is not passed through, and the error does not hold its value', (name) => {
    expect(() => buildRunEnvironment(environment, sampleRun({ envPassthrough: [name] }), machine)).toThrow(
      expect.objectContaining({ code: 'refused_by_policy', message: `The variable ${name} is not passed to programs.` }),
    );
  });

  it('every program finds the ports of its environment by their names', () => {
    const ports = { connect: [], bind: [20_000, 20_001], egress: [], named: { web: 20_000, 'dev-api': 20_001 } };
    expect(buildRunEnvironment(sampleEnvironment({ ports }), sampleRun(), machine)).toMatchObject({
      ORRERY_PORT_WEB: '20000',
      ORRERY_PORT_DEV_API: '20001',
    });
  });

  it("a run's own values win", () => {
    expect(buildRunEnvironment(environment, sampleRun({ envPassthrough: ['PATH'], env: { PATH: '/own' } }), machine).PATH).toBe(
      '/own',
    );
  });
});
