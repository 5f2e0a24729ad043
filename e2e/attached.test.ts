/** A person's own agent program, attached to a real node by `orrery mcp --attach`: as the protocol's own client, and as Claude Code. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { once } from 'node:events';
import type { Client } from '@orrery/client';
import type { AttachedView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { CLI_MAIN, startProgram, writingAgent } from './support/attached.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { PROGRAMS, placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { taskEnd, waitFor } from './support/wait.ts';

/** As long as the node may need to notice that a process is gone (15 s of silence, looked for every 2 s), and a loaded machine. */
const GONE_MS = 30_000;

const tool = (name: string, input: object = {}) => ({ tool: `mcp__orrery__${name}`, input });
const handing = [
  tool('whoami'),
  tool('task_create', { prompt: 'Write answer.txt.', requestId: 'from-claude' }),
  tool('task_cancel', { task: 'tsk_nobody' }),
  tool('task_list'),
  { text: 'Handed on.' },
];

describe('a program that is attached', { timeout: 120_000 }, () => {
  const place = placeOfSuite();
  let model: ScriptedModel;
  let life: Life;
  let client: Client;
  let repository: string;

  beforeAll(async () => {
    model = await modelOfSuite(scriptsOf({ hand: handing }));
    const agents = join(place.folder, 'agents');
    mkdirSync(agents);
    writeFileSync(join(agents, 'agent.mjs'), writingAgent);
    const command = [process.execPath, join(agents, 'agent.mjs')];
    const mine = { speaks: 'acp', command, files: [agents, dirname(dirname(process.execPath))] };
    place.configure(configFor(model, { harness: 'mine', harnesses: { mine } }));
    life = await place.up();
    client = place.client(life);
    repository = makeRepository(place, 'shop', { validation: 'grep -q right answer.txt' });
    await client.call('projectAdd', { body: { source: repository } });
  });

  const living = async (): Promise<AttachedView[]> => (await client.call('attachedList', { query: { state: 'attached' } })).items;
  const ended = (id: string): Promise<AttachedView> =>
    waitFor(
      `the node knows that ${id} has ended`,
      async () => {
        const session = await client.call('attachedShow', { params: { id } });
        return session.state === 'ended' ? session : null;
      },
      GONE_MS,
    );

  it('hands on work as itself, and gets the result or three lines', async () => {
    const program = await startProgram(place, repository, ['--harness', 'claude', '--name', 'desk']);
    const { tools } = await program.mcp.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['whoami', 'task_create', 'task_list', 'task_show', 'task_wait', 'task_diff', 'task_cancel'],
    ]);
    const me = (await program.tool('whoami')).value;
    expect(me).toMatchObject({ name: 'desk', harness: 'claude', by: 'owner', folder: repository, project: 'shop' });
    const id = String(me?.['session']);

    const made = (await program.tool('task_create', { prompt: 'Write answer.txt.', requestId: 'once' })).value;
    expect((await program.tool('task_create', { prompt: 'Write answer.txt.', requestId: 'once' })).value?.['id']).toBe(
      made?.['id'],
    );
    const task = String(made?.['id']);
    expect((await program.tool('task_wait', { task, seconds: 100 })).value).toMatchObject({
      verdict: 'accepted',
      result: { summary: 'Written.', filesChanged: 1 },
    });
    expect((await program.tool('task_diff', { task })).value).toMatchObject({
      files: [{ path: 'answer.txt', status: 'added' }],
      patch: expect.stringContaining('+right'),
      nextOffset: null,
    });
    expect((await client.call('taskShow', { params: { id: task } })).origin).toEqual({ kind: 'session', by: id });
    expect((await program.tool('task_list')).value).toMatchObject({ tasks: [{ id: task }] });
    const audit = (await client.call('auditList', { query: { limit: 20 } })).items;
    expect(audit.slice(0, 2).map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      [`session:${id}`, 'task.add', task],
      ['token:owner', 'session.attach', id],
    ]);

    await program.close();
    expect(await ended(id)).toMatchObject({ reason: 'its process ended', heardAt: null });
    const claimed = { prompt: 'x', origin: { kind: 'session', by: id } } as const;
    expect(await codeOf(client.call('taskAdd', { body: claimed }))).toBe('conflict');
  });

  it('is told in three lines what it may not, and cancels what it asked for itself alone', async () => {
    const program = await startProgram(place, repository, ['--name', 'desk']);
    const id = String((await program.tool('whoami')).value?.['session']);
    const other = await client.call('taskAdd', { body: { prompt: 'Of somebody else.', project: repository } });
    expect(await program.tool('task_cancel', { task: other.id })).toEqual({
      failed: true,
      value: null,
      text: [
        `The session desk did not ask for the task ${other.id}.`,
        'A session cancels what it asked for itself.',
        `A person does it: orrery task cancel ${other.id}`,
      ].join('\n'),
    });
    expect((await program.tool('task_list')).value).toEqual({ tasks: [] });
    const refused = await program.tool('task_create', { prompt: 'x', harness: 'nothing' });
    expect([refused.failed, refused.text.split('\n').length]).toEqual([true, 3]);
    expect((await program.tool('task_create', { prompt: 'x', budget: 3 })).failed).toBe(true);
    await taskEnd(client, other.id);

    // What a program calls itself is told with the next sign of its life.
    const known = async () => (await living()).map((session) => [session.id, session.program]);
    await expect.poll(known, { timeout: 20_000 }).toEqual([[id, 'program-of-a-test 7']]);
    await program.close();
    await ended(id);
  });

  it('is listed, and is neither prompted nor ended by anybody', async () => {
    const program = await startProgram(place, repository, ['--name', 'own']);
    const [session] = await living();
    const params = { id: session!.id };
    for (const refused of [
      client.call('turnAdd', { params, body: { text: 'hello' } }),
      client.call('sessionInterrupt', { params, body: {} }),
      client.call('sessionClose', { params, body: {} }),
      client.call('sessionEnd', { params, body: {} }),
      client.call('sessionFork', { params, body: {} }),
      client.call('sessionDelete', { params }),
    ])
      expect(await codeOf(refused)).toBe('unsupported');
    const said = await place.cli(['session', 'send', 'own', 'hello']);
    expect([said.code, said.stderr.trim().split('\n').length]).toEqual([8, 3]);
    expect(said.stderr).toContain('was started outside Orrery');
    expect((await place.cli(['session', 'list'])).stdout).toMatch(/attached +own/);
    expect((await place.cli(['session', 'show', 'own'])).stdout).toContain(params.id);
    await program.close();
    await ended(params.id);
  });

  it('goes on when the node is started anew, and is known to be gone when it was killed', async () => {
    const program = await startProgram(place, repository);
    const me = (await program.tool('whoami')).value;
    const id = String(me?.['session']);
    await life.kill();
    life = await place.up();
    client = place.client(life);
    expect((await program.tool('whoami')).value).toMatchObject({ session: id });
    const task = String((await program.tool('task_create', { prompt: 'Write answer.txt.' })).value?.['id']);
    expect((await client.call('taskShow', { params: { id: task } })).origin.by).toBe(id);
    process.kill(program.pid, 'SIGKILL');
    expect((await ended(id)).reason).toBe('its process was not heard of for 15 seconds');
    // What it asked for goes on without it.
    expect((await taskEnd(client, task)).verdict).toBe('accepted');
  });

  it('may send anything: what is no message is refused, and nothing but that is left', async () => {
    const child = spawn(process.execPath, [CLI_MAIN, 'mcp', '--attach'], { cwd: repository, env: { ...place.env } });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString('utf8')));
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString('utf8')));
    child.stdin.on('error', () => undefined);
    const lines = (): { id: number | null; error?: { code: number } }[] =>
      stdout.trim() === ''
        ? []
        : stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as { id: number | null });
    child.stdin.write(`no JSON\n{"jsonrpc":"1.0"}\n${'['.repeat(200_000)}\n`);
    for (let piece = 0; piece < 20; piece++) child.stdin.write('x'.repeat(1024 * 1024));
    const clientInfo = { name: 'raw', version: '1' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    child.stdin.write(`\n${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`);
    await waitFor('an answer to hello', () => (lines().some(({ id }) => id === 1) ? true : null));
    expect(lines().map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32_700],
      [null, -32_600],
      [null, -32_700],
      [null, -32_600],
      [1, undefined],
    ]);
    child.stdin.write('noise\n'.repeat(200));
    const [code] = (await once(child, 'exit')) as [number];
    expect([code, stderr.trim().split('\n').slice(-3)[0]]).toEqual([
      2,
      expect.stringContaining('no message of the Model Context'),
    ]);
    expect(await living()).toEqual([]);
  });

  it.skipIf(!isThere('claude'))('is Claude Code: it calls the tools, and the task is its own', async () => {
    const config = join(place.folder, 'mcp.json');
    const orrery = { command: process.execPath, args: [CLI_MAIN, 'mcp', '--attach', '--harness', 'claude'], env: place.env };
    writeFileSync(config, JSON.stringify({ mcpServers: { orrery } }));
    const options = ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__orrery', '--output-format', 'json'];
    const child = spawn(
      join(PROGRAMS, 'claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude'),
      ['-p', 'Hand it on. [hand]', ...options],
      {
        cwd: repository,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...{ PATH: place.env['PATH'], HOME: place.env['HOME'], LANG: 'C.UTF-8' },
          ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'made-up-provider-key' },
          ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
        },
      },
    );
    let out = '';
    child.stdout.on('data', (piece: Buffer) => (out += piece.toString('utf8')));
    child.stderr.on('data', (piece: Buffer) => (out += piece.toString('utf8')));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, out]).toEqual([0, expect.stringContaining('Handed on.')]);
    const [{ id }] = (await client.call('attachedList')).items as [AttachedView];
    const [task] = (await client.call('taskList', { query: { limit: 1 } })).items;
    expect([task?.origin, task?.requestId]).toEqual([{ kind: 'session', by: id }, 'from-claude']);
    const heard = model.log().flatMap(({ call }) => (call?.opening.includes('[hand]') === true ? [call.last] : []));
    expect(heard.join('\n')).toContain('There is no task tsk_nobody.');
    const program = expect.stringContaining('claude-code');
    expect(await ended(id)).toMatchObject({ harness: 'claude', program, folder: repository, reason: 'its process ended' });
    expect((await taskEnd(client, task!.id)).verdict).toBe('accepted');
  });
});
