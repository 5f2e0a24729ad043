import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProcesses } from './node-process.ts';

const entry = join(import.meta.dirname, '..', 'test', 'fixtures', 'node-program.mjs');
const processes = createProcesses({ PATH: process.env['PATH'] }, () => entry);
const hold = { folder: '' };
beforeEach(() => {
  hold.folder = mkdtempSync(join(tmpdir(), 'orrery-start-'));
});
afterEach(() => rmSync(hold.folder, { recursive: true, force: true }));

const refusal = async (promise: Promise<unknown>): Promise<Record<string, unknown>> => {
  const thrown = await promise.catch((error: unknown) => error);
  return thrown instanceof OrreryError
    ? { code: thrown.code, message: thrown.message, fix: thrown.fix }
    : { thrown: String(thrown) };
};

describe('the node’s program', () => {
  it('in the foreground is ready, is stopped once, and its end is seen', async () => {
    const pidFile = join(hold.folder, 'pid');
    const { url, node } = await processes.startNode({ args: ['--data', pidFile], logFile: null });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const alive = processes.isAlive(pid);
    node.stop();
    expect({ url, alive, code: await node.ended, after: processes.isAlive(pid) }).toEqual({
      url: 'http://127.0.0.1:1',
      alive: true,
      code: 0,
      after: false,
    });
  });

  it('in the background outlives the one that started it, with its errors in a file of its owner', async () => {
    const pidFile = join(hold.folder, 'pid');
    const logFile = join(hold.folder, 'state', 'up.log');
    const { node } = await processes.startNode({ args: ['--data', pidFile, '--detach'], logFile });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect({ alive: processes.isAlive(pid), log: existsSync(logFile) }).toEqual({ alive: true, log: true });
    process.kill(pid, 'SIGTERM');
    expect(await node.ended).toBe(0);
  });

  it('that refuses says why, and one that dies is said to have died', async () => {
    const logFile = join(hold.folder, 'up.log');
    const refused = await refusal(processes.startNode({ args: ['--refuse'], logFile }));
    const died = await refusal(processes.startNode({ args: ['--die'], logFile }));
    expect({ refused, died, log: readFileSync(logFile, 'utf8') }).toEqual({
      refused: { code: 'node_already_running', message: 'A node runs already.', fix: 'orrery status' },
      died: { code: 'node_not_running', message: 'The node ended with 3 before it was ready.', fix: `cat ${logFile}` },
      log: 'it went wrong\n',
    });
  });

  it('gets a secret on standard input, and answers with its last JSON line', async () => {
    const lines: unknown[] = [];
    const answer = await processes.callNode({
      args: ['secret', 'set', 'x'],
      input: 'hunter2',
      onLine: (line) => lines.push(line),
    });
    expect({ answer, lines }).toEqual({
      answer: { result: { args: ['secret', 'set', 'x'], input: 'hunter2', argv: false } },
      lines: [{ line: { area: 'one' } }, answer],
    });
  });

  it('that answers nothing or refuses is an error', async () => {
    const silent = await refusal(processes.callNode({ args: ['silent'] }));
    const refused = await refusal(processes.callNode({ args: ['x', '--refuse'] }));
    expect([silent['code'], refused['code']]).toEqual(['internal', 'node_already_running']);
  });
});

describe('a pager', () => {
  it('is told from one that is not there', async () => {
    expect([
      await processes.page('cat >/dev/null', 'text'),
      await processes.page('no-such-pager-here 2>/dev/null', 'text'),
    ]).toEqual([true, false]);
  });
});
