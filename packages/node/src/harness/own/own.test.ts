import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeSchema } from '../../config/node-schema.ts';
import type { SessionContext } from '../harness.ts';
import { createHarnessPrograms } from '../install.ts';
import { needsProgram, notInstalled } from '../program.ts';
import { builtinHarnesses } from '../registry.ts';
import { withDeclared } from '../turn/declared.ts';
import { findOwnProgram } from './find-program.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'own-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The harnesses of a node with this configuration. */
const harnessesOf = (harnesses: object) => withDeclared(builtinHarnesses, nodeSchema.parse({ harnesses }).harnesses);
const cursorOf = (harnesses: object) => harnessesOf(harnesses).find(({ id }) => id === 'cursor')!;
const program = (path: string, mode = 0o755): string => {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, mode);
  return file;
};

describe('programs of the operator’s own', () => {
  it('are Cursor and Grok by their usual commands, and what the configuration names', () => {
    const own = (harnesses: object) =>
      harnessesOf(harnesses).flatMap((one) => (one.own === undefined ? [] : [[one.id, one.own.command]]));
    expect(own({ goose: { speaks: 'acp', command: ['goose', 'acp'] } })).toEqual([
      ['cursor', 'cursor-agent'],
      ['grok', 'grok'],
      ['goose', 'goose'],
    ]);
    expect(own({ cursor: { speaks: 'acp', command: ['/opt/c', 'acp'] } })).toEqual([
      ['grok', 'grok'],
      ['cursor', '/opt/c'],
    ]);
    expect(() => harnessesOf({ claude: { speaks: 'acp', command: ['x'] } })).toThrow(/built-in/);
  });

  it('are found by their path or by name, through links, and only where they can be run', () => {
    const file = program('lib/agent');
    mkdirSync(join(folder, 'bin'));
    symlinkSync(file, join(folder, 'bin/linked'));
    program('bin/data', 0o644);
    const find = (command: string) => findOwnProgram(command, { path: `relative:${join(folder, 'bin')}`, node: '/node' });
    const found = { directory: join(folder, 'lib'), executable: file, version: 'your own', node: '/node' };
    expect([find('linked'), find(file)]).toEqual([found, found]);
    for (const name of ['data', 'lib', 'nothing', './linked', join(folder, 'lib')]) expect(find(name)).toBeNull();
    expect(findOwnProgram('linked', { path: undefined, node: '/node' })).toBeNull();
  });

  it('are not installed by the node, and said to be missing with what helps', async () => {
    const cursor = cursorOf({});
    const programs = createHarnessPrograms({ directory: folder, own: () => 'cursor-agent', env: { PATH: folder } });
    expect(await programs.installed('cursor')).toBeNull();
    program('cursor-agent');
    expect(await programs.installed('cursor')).toMatchObject({ executable: join(folder, 'cursor-agent'), version: 'your own' });
    expect(() => programs.install('cursor')).toThrow(/your own/);
    expect(needsProgram(cursor)).toBe(true);
    expect(notInstalled(cursor).toLines().join('\n')).toMatch(
      /not here: cursor-agent[^]*harnesses\.<name>\.command[^]*orrery harness show cursor/,
    );
  });

  it('are started as the configuration says, with no token and no setting of ours', () => {
    const harness = cursorOf({
      cursor: { speaks: 'acp', command: ['/opt/c', 'acp', '-v'], files: ['/opt/lib'], env: { A: 'b' } },
    });
    const found = { directory: '/opt', executable: '/opt/c', version: 'your own', node: '/node' };
    const context = { program: found, tokenFile: '/token', brokerEndpoint: 'http://b', home: '/home' } as SessionContext;
    expect(harness.session!.launch(context)).toEqual({
      command: '/opt/c',
      args: ['acp', '-v'],
      env: { A: 'b' },
      homeFiles: {},
      programPaths: ['/opt', '/opt/lib'],
    });
  });
});
