import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrreryError } from '@orrery/protocol/errors';
import { describeBothSpawners } from '../../test/both-spawners.ts';
import type { Spawner } from '../kernel/spawner.ts';
import { createGit, gitArguments, gitEnvironment } from './run.ts';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'orrery-git-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program in Git's place that does what the test says. */
const fakeGit = (script: string, spawner: Spawner) => {
  const program = join(folder, 'git');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return createGit({ program, environment: { PATH: process.env['PATH'] }, spawner });
};

const failure = async (work: Promise<unknown>): Promise<OrreryError> => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof OrreryError)) throw new Error('it did not fail with an OrreryError');
  return thrown;
};

describe('the environment of a Git child', () => {
  const hostile = {
    PATH: '/bin',
    HOME: '/home/ada',
    SECRET: 'key',
    GIT_DIR: '/x',
    GIT_WORK_TREE: '/x',
    GIT_INDEX_FILE: '/x',
    GIT_OBJECT_DIRECTORY: '/x',
    GIT_ALTERNATE_OBJECT_DIRECTORIES: '/x',
    GIT_COMMON_DIR: '/x',
    GIT_NAMESPACE: 'x',
    GIT_CEILING_DIRECTORIES: '/x',
    GIT_CONFIG: '/x',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: 'evil',
    GIT_CONFIG_PARAMETERS: "'core.fsmonitor=evil'",
    GIT_EXTERNAL_DIFF: 'evil',
    GIT_SSH_COMMAND: 'evil',
    GIT_PROXY_COMMAND: 'evil',
    GIT_EXEC_PATH: '/x',
    GIT_TEMPLATE_DIR: '/x',
    GIT_TRACE: '/x',
    GIT_REPLACE_REF_BASE: 'x',
    LD_PRELOAD: '/x',
  };
  const fixed = {
    PATH: '/bin',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: 'file',
  };

  it('holds nothing of the node but what is listed, for the node’s own directories', () => {
    expect(gitEnvironment({ args: ['status'], gitDir: '/m' }, hostile)).toEqual({
      ...fixed,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_DIR: '/m',
    });
  });

  it('keeps the user’s home for their credentials and identity, and no redirection', () => {
    expect(gitEnvironment({ args: ['fetch'], profile: 'user', protocols: ['https'], readOnly: false }, hostile)).toEqual({
      ...fixed,
      HOME: '/home/ada',
      GIT_ALLOW_PROTOCOL: 'https',
    });
  });

  it('puts the forced settings before the command', () => {
    const args = gitArguments({ args: ['status'] });
    expect(args.at(-1)).toBe('status');
    expect(args).toEqual(
      expect.arrayContaining(['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'protocol.ext.allow=never', 'gc.auto=0']),
    );
  });

  it('lets what a command writes reach the disk, loose objects too, and does not wait for the disk to read', () => {
    const durable = ['core.fsync=committed,reference', 'core.fsyncMethod=batch'];
    expect(gitArguments({ args: ['commit-tree'], readOnly: false })).toEqual(expect.arrayContaining(durable));
    expect(gitArguments({ args: ['status'] }).filter((arg) => durable.includes(arg))).toEqual([]);
  });
});

describeBothSpawners('a Git command', (spawner) => {
  const fake = (script: string) => fakeGit(script, spawner);

  it('gets its input and gives its answer', async () => {
    expect(await fake('cat').run({ args: ['x'], input: 'in' })).toEqual({
      code: 0,
      stdout: Buffer.from('in'),
      stderr: '',
      truncated: false,
    });
  });

  it('that fails says what Git said, without credentials', async () => {
    const thrown = await failure(
      fake('echo "fatal: unable to access \'https://ada:s3cret@example.org/x?token=abc\': 403" >&2; exit 128').run({
        args: ['fetch'],
      }),
    );
    expect(thrown.code).toBe('git_failed');
    expect(JSON.stringify(thrown.toBody())).not.toMatch(/s3cret|ada:|abc/);
    expect(thrown.message).toBe("git fetch failed: fatal: unable to access 'https://example.org/x?token=(hidden)': 403");
  });

  it('that takes too long is ended with everything it started', async () => {
    const started = Date.now();
    const thrown = await failure(fake('sleep 30 & sleep 30').run({ args: ['fetch'], timeoutMs: 100 }));
    expect(thrown.details).toMatchObject({ problem: 'timeout' });
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it('that answers too much is ended, or cut where that was asked for', async () => {
    const git = fake('yes');
    expect((await failure(git.run({ args: ['log'], maxOutputBytes: 1000 }))).details).toMatchObject({ problem: 'too_large' });
    const cut = await git.run({ args: ['log'], maxOutputBytes: 1001, truncate: true });
    expect({ bytes: cut.stdout.length, truncated: cut.truncated }).toEqual({ bytes: 1001, truncated: true });
  });

  it('whose work was cancelled is ended', async () => {
    const controller = new AbortController();
    const running = fake('sleep 30').run({ args: ['fetch'], signal: controller.signal });
    controller.abort();
    expect((await failure(running)).details).toMatchObject({ problem: 'aborted' });
  });

  it('says how to get Git when there is none', async () => {
    const thrown = await failure(
      createGit({ program: join(folder, 'nothing'), environment: {}, spawner }).run({ args: ['status'] }),
    );
    expect({ code: thrown.code, fix: thrown.fix }).toEqual({
      code: 'git_failed',
      fix: 'Install Git 2.38 or newer and make sure that it is on the PATH of the node.',
    });
  });

  it('may feed another, and a reader that ends early is the failure that is told', async () => {
    const git = fake('case "$*" in *from*) yes;; *to*) echo "fatal: no" >&2; exit 3;; esac');
    const thrown = await failure(git.pipe({ args: ['from'], timeoutMs: 5000 }, { args: ['to'] }));
    expect(thrown.message).toBe('git to failed: fatal: no');
  });

  it('gives what another answered, fed by the first', async () => {
    const git = fake('case "$*" in *from*) echo through;; *to*) cat;; esac');
    expect((await git.pipe({ args: ['from'] }, { args: ['to'] })).stdout.toString()).toBe('through\n');
  });

  it('has no terminal and no prompt', async () => {
    const answer = await fake('if (: < /dev/tty) 2>/dev/null; then echo terminal; else echo none; fi').text({ args: ['x'] });
    expect(answer).toBe('none');
  });
});
