/** An agent of the Agent Client Protocol that the operator installed: found where the configuration says, asked, never guessed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { codeOf } from './support/commands.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';
import { taskEnd } from './support/wait.ts';

/** Asks whether it may write a file, does what it is told, and says so. It remembers nothing. */
const script = `
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (value) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...value }) + '\\n');
const update = (value) => say({ method: 'session/update', params: { sessionId: 's', update: value } });
let turn = null;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') say({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') {
    turn = id;
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }, { optionId: 'n', name: 'No', kind: 'reject_once' }];
    const toolCall = { toolCallId: 'c', title: 'Write', kind: 'edit', rawInput: { path: 'answer.txt', text: 'right' } };
    say({ id: 'ask', method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
  } else if (id === 'ask') {
    const allowed = result.outcome.optionId === 'y';
    if (allowed) writeFileSync('answer.txt', 'right\\n');
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: allowed ? 'completed' : 'failed' });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: allowed ? 'Written.' : 'Left alone.' } });
    say({ id: turn, result: { stopReason: 'end_turn' } });
  }
});
`;

it(
  'does a session and a task, is unverified until it did, and is not started where it is not',
  { timeout: 240_000 },
  async () => {
    const place = placeOfTest();
    const programs = join(place.folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'agent.mjs'), script);
    place.configure({
      harness: 'mine',
      harnesses: {
        mine: {
          speaks: 'acp',
          command: [process.execPath, join(programs, 'agent.mjs')],
          files: [programs, dirname(dirname(process.execPath))],
        },
        gone: { speaks: 'acp', command: ['/nowhere/agent', 'acp'] },
      },
    });
    const client = place.client(await place.up());
    const repository = makeRepository(place, 'repository', { validation: 'grep -q right answer.txt' });
    await client.call('projectAdd', { body: { source: repository } });
    const shown = async (name: string) => (await client.call('harnessList')).items.find(({ id }) => id === name)!;
    expect(await shown('mine')).toMatchObject({ verified: false, program: process.execPath, installedVersion: 'your own' });
    expect(await shown('gone')).toMatchObject({ verified: false, installedVersion: null });

    const { id } = await client.call('sessionCreate', { body: { project: repository, mode: 'ask', prompt: 'Write it.' } });
    await sessionIn(client, id, ['waiting']);
    const [asked] = (await client.call('interactionList', { query: { session: id } })).items;
    expect(asked?.ask).toMatchObject({ kind: 'edit', paths: ['answer.txt'] });
    await client.call('interactionAnswer', { params: { id: asked!.id }, body: { revision: 1, outcome: 'denied' } });
    const [turn] = (await client.call('turnList', { params: { id } })).items;
    expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
    expect(texts(await logOf(client, id))).toEqual(['Left alone.']);
    expect((await shown('mine')).verified).toBe(true);

    const task = await client.call('taskAdd', { body: { prompt: 'Write it.', project: repository } });
    expect((await taskEnd(client, task.id, 100_000)).verdict).toBe('accepted');
    for (const harness of ['gone', 'cursor'])
      expect(await codeOf(client.call('sessionCreate', { body: { project: repository, harness, mode: 'ask' } }))).toBe(
        'harness_not_installed',
      );
  },
);
