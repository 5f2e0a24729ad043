import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientEnvironment, masterLine, personLine, sessionLine, verboseLine } from './client-line.ts';
import { ENTRY } from './entry.ts';

const destination = { host: 'box', config: '/c', identity: '/k', connectSeconds: 20, aliveSeconds: 15, aliveCount: 3 };

/** What a configuration may say for other uses of a host. */
const LOOSE = [
  'StrictHostKeyChecking no',
  'ForwardAgent yes',
  'ForwardX11 yes',
  'ControlPersist yes',
  'ControlPath ~/.ssh/c',
  'RemoteCommand top',
  'BatchMode no',
  'LogLevel QUIET',
  'UpdateHostKeys yes',
  'PermitLocalCommand yes',
  'RequestTTY force',
  'User someone',
  'Port 2200',
];

/** What comes of it. */
const HELD = {
  stricthostkeychecking: 'true',
  forwardagent: 'no',
  forwardx11: 'no',
  controlpersist: 'no',
  controlpath: './s1',
  controlmaster: 'false',
  batchmode: 'yes',
  loglevel: 'ERROR',
  updatehostkeys: 'false',
  permitlocalcommand: 'no',
  requesttty: 'false',
  user: 'someone',
  port: '2200',
};

describe('the command lines of ssh', () => {
  it('a connection and its sessions differ in one word', () => {
    const master = masterLine(destination, './s1');
    const session = sessionLine(destination, './s1');
    expect(master.filter((word, index) => word !== session[index])).toEqual(['ControlMaster=yes']);
    expect(master.slice(0, 6)).toEqual(['-F', '/c', '-i', '/k', '-o', 'ControlMaster=yes']);
    expect(master.slice(-4)).toEqual(['-T', '--', 'box', ENTRY]);
    expect(verboseLine(destination)).toContain('LogLevel=DEBUG1');
  });

  it('without a configuration or a key it is the user’s own', () => {
    const line = masterLine({ ...destination, config: null, identity: null }, './s1');
    expect(line).not.toContain('-F');
    expect(line).not.toContain('-i');
    expect(personLine({ ...destination, config: null, identity: null }, ['-v'])).toBe('ssh -v box');
  });

  it('what must hold wins over what the configuration says', ({ skip }) => {
    const directory = mkdtempSync(join(tmpdir(), 'orrery-ssh-config-'));
    const config = join(directory, 'config');
    writeFileSync(config, `Host box\n${LOOSE.map((line) => `  ${line}\n`).join('')}`);
    const line = sessionLine({ ...destination, config, identity: null }, './s1').slice(0, -1);
    const { stdout, error } = spawnSync('ssh', ['-G', ...line], { encoding: 'utf8' });
    rmSync(directory, { recursive: true });
    skip(error !== undefined, 'there is no ssh here');
    const said = Object.fromEntries(stdout.split('\n').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]));
    expect(said).toMatchObject(HELD);
    expect(said['remotecommand'] ?? 'none').toBe('none');
  });

  it('the client has what it needs to log in, and nothing else of the node', () => {
    expect(
      clientEnvironment({ HOME: '/h', PATH: '/b', SSH_AUTH_SOCK: '/a', ORRERY_SECRET: 'x', LANG: 'de', LC_ALL: 'de' }),
    ).toEqual({ HOME: '/h', PATH: '/b', SSH_AUTH_SOCK: '/a' });
  });
});
