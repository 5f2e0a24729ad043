/** Orrery as the agent of an editor: `orrery acp` on a real node with real programs, spoken with as an editor does. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { methods, RequestError, type RequestPermissionRequest, type RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { Client } from '@orrery/client';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { faultsOf, startEditor, type Editor, type EditorOptions } from './support/editor.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { sessionIn } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

const cases = {
  talk: [{ text: 'First answer.' }, { text: 'Second answer.' }],
  change: [{ write: { path: 'made.txt', content: 'one\ntwo\n', fresh: true } }, { text: 'It is written.' }],
  allow: [{ shell: 'echo allowed > allowed.txt' }, { text: 'It was allowed.' }],
  deny: [{ shell: 'echo denied > denied.txt' }, { text: 'It was not allowed.' }],
  odd: [{ shell: 'echo odd > odd.txt' }, { text: 'After the answer.' }],
  gone: [{ shell: 'echo gone > gone.txt' }, { text: 'After the other answer.' }],
  stop: [{ shell: 'until [ -e "$HOME/never" ]; do sleep 0.1; done' }, { text: 'never' }],
  crash: [{ shell: 'until [ -e "$HOME/go" ]; do sleep 0.1; done' }, { text: 'Over the crash.' }],
};

const choose = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
  outcome: { outcome: 'selected', optionId },
});

describe.skipIf(!isThere('claude'))('an editor with Claude Code behind it', SLOW, () => {
  const place = placeOfSuite();
  let model: ScriptedModel;
  let life: Life;
  let client: Client;
  let repository: string;

  beforeAll(async () => {
    model = await modelOfSuite(scriptsOf(cases));
    place.configure(configFor(model, { harness: 'claude' }));
    await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
    life = await place.up();
    client = place.client(life);
    repository = makeRepository(place, 'edited', {});
  });

  const editor = (options: EditorOptions = {}): Promise<Editor> => startEditor(place, repository, options);
  const begin = (of: Editor) => of.agent.request(methods.agent.session.new, { cwd: repository, mcpServers: [] });
  const say = (of: Editor, sessionId: string, text: string) =>
    of.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  const workdirOf = async (id: string): Promise<string> => {
    const { environment } = await client.call('sessionShow', { params: { id } });
    return (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '';
  };

  it('begins, talks, asks before a change, shows it as a diff of the folder, and keeps to the schema', async () => {
    const asked: RequestPermissionRequest[] = [];
    const one = await editor({ permission: async (params) => (asked.push(params), choose('approved')()) });
    const made = await begin(one);
    expect(made.modes?.currentModeId).toBe('ask');
    expect(made.configOptions?.map(({ id, category }) => [id, category])).toEqual([['mode', 'mode']]);
    const { sessionId } = made;
    expect((await say(one, sessionId, 'Do it. [change] MARKER-change')).stopReason).toBe('end_turn');
    const file = join(repository, 'made.txt');
    expect(asked.map(({ toolCall, options }) => [toolCall.kind, toolCall.locations, options.map(({ kind }) => kind)])).toEqual([
      ['edit', [{ path: file }], ['allow_once', 'allow_always', 'reject_once']],
    ]);
    expect(asked[0]?.toolCall.content).toEqual([{ type: 'diff', path: file, newText: 'one\ntwo\n' }]);
    const calls = one.updates(sessionId).flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update] : []));
    expect(calls.map(({ toolCallId, kind, content }) => [toolCallId, kind, content])).toEqual([
      [asked[0]?.toolCall.toolCallId, 'edit', [{ type: 'diff', path: file, newText: 'one\ntwo\n' }]],
    ]);
    const ends = one.updates(sessionId).flatMap((update) => (update.sessionUpdate === 'tool_call_update' ? [update.status] : []));
    expect(ends).toEqual(['completed']);
    expect(one.said(sessionId)).toMatch(/works in a checkout of its own[\s\S]*It is written\.$/);
    // The agent's file is in its checkout, and nothing in the editor's folder changed.
    expect([existsSync(file), existsSync(join(await workdirOf(sessionId), 'made.txt'))]).toEqual([false, true]);
    expect(faultsOf(one.wire)).toEqual([]);
    expect(await one.close()).toBe(0);
  });

  it('tells the agent of links and embedded files with where they are from', async () => {
    const one = await editor();
    const { sessionId } = await begin(one);
    const file = join(repository, 'README.md');
    const answer = await one.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [
        { type: 'text', text: 'Look at ' },
        { type: 'resource_link', name: 'README.md', uri: `file://${file}` },
        { type: 'resource', resource: { uri: `file://${file}#L1-3`, text: 'unsaved words' } },
        { type: 'text', text: '[talk] MARKER-links' },
      ],
    });
    expect(answer.stopReason).toBe('end_turn');
    const [first] = (await client.call('turnList', { params: { id: sessionId } })).items;
    expect(first?.text).toBe(
      `Look at README.md\n\nFrom the editor, README.md (lines 1-3):\n\`\`\`\nunsaved words\n\`\`\`\n[talk] MARKER-links`,
    );
    expect(faultsOf(one.wire)).toEqual([]);
  });

  it('does nothing that was rejected, or was answered with nonsense; the question stays for others', async () => {
    const one = await editor({ permission: choose('denied') });
    const denied = await begin(one);
    expect((await say(one, denied.sessionId, 'Do it. [deny]')).stopReason).toBe('end_turn');
    expect(existsSync(join(await workdirOf(denied.sessionId), 'denied.txt'))).toBe(false);
    expect(faultsOf(one.wire)).toEqual([]);

    const odd = await editor({ permission: choose('whatever') });
    const { sessionId } = await begin(odd);
    const answer = say(odd, sessionId, 'Do it. [odd]');
    await waitFor(
      'it is said that the question stays',
      () => (odd.said(sessionId).includes('Not answered') ? true : null),
      120_000,
    );
    const { items } = await client.call('interactionList', { query: { session: sessionId } });
    expect(items.map(({ state }) => state)).toEqual(['open']);
    expect(existsSync(join(await workdirOf(sessionId), 'odd.txt'))).toBe(false);
    expect((await place.cli(['session', 'answer', items[0]!.id, 'approve'])).code).toBe(0);
    expect((await answer).stopReason).toBe('end_turn');
    expect(existsSync(join(await workdirOf(sessionId), 'odd.txt'))).toBe(true);
  });

  it('an answer by somebody else takes the question back from the editor', async () => {
    let taken: AbortSignal | null = null;
    const one = await editor({
      permission: (_, signal) => {
        taken = signal;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } })));
      },
    });
    const { sessionId } = await begin(one);
    const answer = say(one, sessionId, 'Do it. [allow]');
    await waitFor('the question', () => taken, 120_000);
    const { items } = await client.call('interactionList', { query: { session: sessionId } });
    expect((await place.cli(['session', 'answer', items[0]!.id, 'approve'])).code).toBe(0);
    expect((await answer).stopReason).toBe('end_turn');
    expect(taken!.aborted).toBe(true);
    expect(one.said(sessionId)).toContain('It was allowed.');
    expect(one.said(sessionId)).not.toContain('Not answered');
    expect(faultsOf(one.wire)).toEqual([]);
  });

  it('an editor that dies leaves its question open and its session alive, and loads it again', async () => {
    const shown: RequestPermissionRequest[] = [];
    const one = await editor({ permission: (params) => (shown.push(params), new Promise(() => undefined)) });
    const { sessionId } = await begin(one);
    void say(one, sessionId, 'Do it. [gone]').catch(() => undefined);
    await waitFor('the question', () => shown[0] ?? null, 120_000);
    await one.vanish();
    const session = await client.call('sessionShow', { params: { id: sessionId } });
    expect([session.state, session.interactions]).toEqual(['waiting', 1]);
    expect(existsSync(join(await workdirOf(sessionId), 'gone.txt'))).toBe(false);

    const two = await editor({ permission: choose('approved-for-session') });
    const { sessions } = await two.agent.request(methods.agent.session.list, { cwd: repository });
    expect(sessions).toContainEqual(expect.objectContaining({ sessionId, cwd: repository }));
    await two.agent.request(methods.agent.session.load, { sessionId, cwd: repository, mcpServers: [] });
    await waitFor('the end of the turn', () => (two.said(sessionId).includes('After the other answer.') ? true : null), 120_000);
    expect(existsSync(join(await workdirOf(sessionId), 'gone.txt'))).toBe(true);
    const heard = two
      .updates(sessionId)
      .flatMap((update) => (update.sessionUpdate === 'user_message_chunk' ? [update.content] : []));
    expect(heard).toEqual([{ type: 'text', text: 'Do it. [gone]' }]);
    expect(faultsOf(two.wire)).toEqual([]);
    await two.agent.request(methods.agent.session.close, { sessionId });
    await sessionIn(client, sessionId, ['dormant']);
  });

  it('stops a turn, takes back what waits, and changes the mode', async () => {
    const one = await editor({ args: ['--mode', 'all'] });
    const { sessionId } = await begin(one);
    const running = say(one, sessionId, 'Do it. [stop]');
    await waitFor(
      'the tool',
      () => (one.updates(sessionId).some(({ sessionUpdate }) => sessionUpdate === 'tool_call') ? true : null),
      120_000,
    );
    const queued = say(one, sessionId, 'And then this. [talk]');
    await waitFor('the queue', async () =>
      (await client.call('sessionShow', { params: { id: sessionId } })).queued === 1 ? true : null,
    );
    await one.agent.notify(methods.agent.session.cancel, { sessionId });
    expect([(await running).stopReason, (await queued).stopReason]).toEqual(['cancelled', 'cancelled']);
    expect(one.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')).toEqual([]);
    await one.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'edits' });
    expect((await client.call('sessionShow', { params: { id: sessionId } })).mode).toBe('edits');
    const set = await one.agent.request(methods.agent.session.setConfigOption, { sessionId, configId: 'mode', value: 'ask' });
    expect(set.configOptions.map((option) => 'currentValue' in option && option.currentValue)).toEqual(['ask']);
    expect(faultsOf(one.wire)).toEqual([]);
  });

  it('a node that is killed in the middle of a turn is found again, and the prompt is answered', async () => {
    const one = await editor({ args: ['--mode', 'all'] });
    const { sessionId } = await begin(one);
    const answer = say(one, sessionId, 'Do it. [crash] MARKER-acp-crash');
    await waitFor(
      'the tool',
      () => (one.updates(sessionId).some(({ sessionUpdate }) => sessionUpdate === 'tool_call') ? true : null),
      120_000,
    );
    const { environment } = await client.call('sessionShow', { params: { id: sessionId } });
    await life.kill();
    life = await place.up();
    client = place.client(life);
    writeFileSync(join(place.data, 'environments', environment.id, 'home', 'go'), '');
    expect((await answer).stopReason).toBe('end_turn');
    expect(one.said(sessionId)).toMatch(/Over the crash\.$/);
    expect(model.promptCounts()).toMatchObject({ 'MARKER-acp-crash': 1 });
    const two = await editor();
    await two.agent.request(methods.agent.session.resume, { sessionId, cwd: repository });
    expect(two.updates(sessionId)).toEqual([]);
    expect(faultsOf([...one.wire])).toEqual([]);
  });

  it('answers what is wrong with errors and goes on', async () => {
    const one = await editor();
    const codes = async (work: Promise<unknown>): Promise<unknown> => {
      const thrown = (await work.catch((error: unknown) => error)) as { code?: number; data?: { lines?: string[] } };
      return [thrown.code, thrown.data?.lines?.length ?? 0];
    };
    const { request } = { request: one.agent.request.bind(one.agent) };
    const somewhere = { cwd: repository, mcpServers: [] };
    expect([
      await codes(say(one, 'ses_nothing', 'hello')),
      await codes(request(methods.agent.session.load, { sessionId: 'ses_nothing', ...somewhere })),
      await codes(request(methods.agent.session.new, { cwd: 'relative', mcpServers: [] })),
      await codes(request(methods.agent.session.new, { cwd: '/', mcpServers: [] })),
      await codes(request(methods.agent.session.new, { ...somewhere, additionalDirectories: ['/tmp'] })),
      await codes(request('session/new', { nothing: true })),
      await codes(request('session/unheard_of', {})),
      await codes(request(methods.agent.authenticate, { methodId: 'x' })),
    ]).toEqual([
      [-32002, 2],
      [-32002, 3],
      [-32602, 2],
      [-32602, 3],
      [-32602, 2],
      [-32602, 0],
      [-32601, 0],
      [-32602, 0],
    ]);
    const { sessionId } = await begin(one);
    const wrong = [
      request(methods.agent.session.prompt, { sessionId, prompt: [] }),
      request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
      request(methods.agent.session.setMode, { sessionId, modeId: 'reckless' }),
      request(methods.agent.session.setConfigOption, { sessionId, configId: 'colour', value: 'red' }),
    ];
    for (const one of wrong) expect(await codes(one)).toEqual([-32602, 2]);
    const before = one.wire.length;
    one.raw('garbage\n{"jsonrpc":"2.0"}\n[]\n7\n\n{"id":99,"jsonrpc":"2.0","result":{}}\n');
    one.raw(`{"jsonrpc":"2.0","id":77,"method":"session/list","params":{"cursor":"${'x'.repeat(17 * 1024 * 1024)}"}}\n`);
    one.raw(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
    const answers = await waitFor('the errors', () => {
      const found = one.wire.slice(before).flatMap(({ message }) => (message.error === undefined ? [] : [message.error.code]));
      return found.length >= 6 ? found : null;
    });
    expect(answers.toSorted((one, other) => other - one)).toEqual([-32600, -32600, -32600, -32600, -32700, -32700]);
    expect((await request(methods.agent.session.list, {})).sessions.length).toBeGreaterThan(0);
  });

  it('without a node it says how to have one', async () => {
    const one = await startEditor({ ...place, env: { ...place.env, ORRERY_DATA: join(place.folder, 'nowhere') } }, repository, {
      args: ['--no-start'],
    });
    const thrown = await begin(one).catch((error: unknown) => error as RequestError);
    expect(thrown instanceof RequestError && [thrown.code, thrown.message.split('\n').at(-1)]).toEqual([
      -32012,
      'orrery up --detach',
    ]);
    expect(faultsOf(one.wire)).toEqual([]);
    expect((await place.cli(['acp', '--json'])).envelope().error?.code).toBe('invalid_input');
  });
});
