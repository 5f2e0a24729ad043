import type { SessionCreate } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { INTERACTION_MS, type Talker } from '../../../test/talking-place.ts';
import { codeOf, createScene, echo, init, result, until } from '../../../test/talking-scene.ts';
import { SESSION_OPEN_ASKS } from '../../kernel/limits.ts';
import { sessionHandlers } from '../../session/index.ts';

const { scene, begin, given, startAgain, stateIs, turnIs } = createScene();

const asksFor = (id: string, input: object, tool = 'Bash') => ({
  ...{ type: 'control_request', request_id: id },
  request: { subtype: 'can_use_tool', tool_name: tool, input },
});

describe('what a program asks', () => {
  const asked = async (id: string, count: number) =>
    until(`${count} questions`, async () => {
      const items = await scene.node.interactions.list({ sessionId: id, all: true });
      return items.length >= count ? items : null;
    });
  const talkingIn = async (mode: SessionCreate['mode']): Promise<{ id: string; talker: Talker }> => {
    const { id } = await begin({ mode });
    const talker = await given('one');
    talker.say(init, echo('one'));
    return { id, talker };
  };

  it('of any length is kept within bounds, and what is not shown whole can only be denied', async () => {
    const { id, talker } = await talkingIn('ask');
    talker.say(asksFor('q1', { command: 'x'.repeat(3_000_000) }));
    talker.say(asksFor('q2', { questions: [{ question: 'y'.repeat(2_000_000), options: [] }] }, 'AskUserQuestion'));
    const items = await asked(id, 2);
    expect(items.find(({ ask }) => ask.kind === 'command')?.ask.outcomes).toEqual(['denied']);
    expect(JSON.stringify(items).length).toBeLessThan(300_000);
    expect((await scene.node.sessions.show(id)).state).toBe('waiting');
  });

  it('in any number is answered: those beyond the limit are denied, and none is left when the turn ends', async () => {
    const { id, talker } = await talkingIn('ask');
    const count = SESSION_OPEN_ASKS + 5;
    talker.say(...Array.from({ length: count }, (_, at) => asksFor(`q${at}`, { command: 'ls' })));
    const items = await asked(id, count);
    expect(items.filter(({ outcome }) => outcome === 'denied').length).toBe(5);
    talker.say(result);
    await stateIs(id, 'idle');
    expect((await scene.node.interactions.list({ sessionId: id, all: false })).length).toBe(0);
  });

  it('is allowed by the mode "edits" for files of the checkout alone', async () => {
    const { id, talker } = await talkingIn('edits');
    const paths = ['/place/src/a.ts', '/place/.claude/settings.json', '/own/.bashrc', '/place/../etc/x', '/placed/x'];
    talker.say(...paths.map((file_path, at) => asksFor(`q${at}`, { file_path }, 'Write')));
    const items = await asked(id, paths.length);
    const states = new Map(items.map(({ ask, state }) => [ask.paths[0], state]));
    expect(paths.map((path) => states.get(path))).toEqual(['settled', 'open', 'open', 'open', 'open']);
  });

  it('is not allowed any more once its time is up, whether a clock said so or not', async () => {
    const { id, talker } = await talkingIn('ask');
    talker.say(asksFor('q1', { command: 'ls' }));
    const [open] = await asked(id, 1);
    scene.place.pass(INTERACTION_MS + 1_000);
    const yes = { revision: 1, outcome: 'approved', by: 'somebody' } as const;
    expect(await codeOf(scene.node.interactions.answer(open!.id, yes))).toBe('conflict');
    await until('the answer', () => talker.heard.some((frame) => JSON.stringify(frame).includes('in time')));
    expect(JSON.stringify(talker.heard)).not.toContain('allow"');
  });

  it('is refused with a wrong answer and stays open, and two who answer at once are told apart', async () => {
    const { id, talker } = await talkingIn('ask');
    const options = [{ label: 'Red' }, { label: 'Blue' }];
    const questions = ['One?', 'Two?'].map((question, at) => ({ question, options, multiSelect: at === 1 }));
    talker.say(asksFor('q1', { questions }, 'AskUserQuestion'));
    const [open] = await asked(id, 1);
    const give = (answers: Record<string, string | string[]>, by: string) =>
      scene.node.interactions.answer(open!.id, { revision: 1, outcome: 'answered', answers, by });
    expect(await codeOf(give({ q1: 'Red' }, 'ann'))).toBe('invalid_input');
    expect(await codeOf(give({ q1: ['Red'], q2: ['Blue'] }, 'ann'))).toBe('invalid_input');
    const both = await Promise.allSettled([give({ q1: 'Red', q2: ['Blue'] }, 'ann'), give({ q1: 'Blue', q2: ['Red'] }, 'bob')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await until('the answer', () => talker.heard.some((frame) => JSON.stringify(frame).includes('"One?":"')));
    expect(talker.heard.filter((frame) => frame['type'] === 'control_response').length).toBe(1);
  });

  it('is decided by the rule of a session that nobody attends, also what waited before it was declared', async () => {
    const { id, talker } = await talkingIn('ask');
    talker.say(asksFor('q1', { command: 'ls' }));
    await asked(id, 1);
    await scene.node.sessions.set(id, { unattended: 'decline' });
    await until('the denial', () => talker.heard.some((frame) => JSON.stringify(frame).includes('Go on without it')));
    const [settled] = await asked(id, 1);
    expect([settled!.outcome, settled!.by]).toEqual(['denied', 'rule "unattended decline"']);
    await scene.node.sessions.set(id, { unattended: 'fail' });
    talker.say(asksFor('q2', { questions: [{ question: 'Well?', options: [] }] }, 'AskUserQuestion'));
    await until('the refusal', () => talker.heard.some((frame) => JSON.stringify(frame).includes('Decide by yourself')));
    talker.say(asksFor('q3', { command: 'ls' }));
    await until('the stop', () => talker.heard.some((frame) => JSON.stringify(frame).includes('interrupt')));
    talker.say(result);
    expect(await turnIs(id, 'one', 'ended')).toMatchObject({
      outcome: 'error',
      reason: expect.stringContaining('nobody was there'),
    });
  });

  it('beside a turn leaves the session idle once it is answered', async () => {
    const { id, talker } = await talkingIn('ask');
    talker.say(result);
    await stateIs(id, 'idle');
    talker.say(asksFor('q1', { command: 'ls' }));
    await stateIs(id, 'waiting');
    const [open] = await asked(id, 1);
    await scene.node.interactions.answer(open!.id, { revision: 1, outcome: 'denied', by: 'somebody' });
    await stateIs(id, 'idle');
  });
});

it('what a program says and nobody can keep fails the session, and closing it lets it go on', async () => {
  const { id } = await begin();
  const talker = await given('one');
  const call = { type: 'tool_use', id: 'x'.repeat(2_000_000), name: 'Bash', input: {} };
  talker.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  talker.say({ type: 'assistant', message: { id: 'm1', content: [call] } });
  const failed = await stateIs(id, 'failed');
  expect([failed.reason, talker.ended]).toEqual([expect.stringContaining('too large'), true]);
  await scene.node.sessions.leave(id, 'close');
  await stateIs(id, 'dormant');
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await given('two');
});

it('a state that another version stored fails the session, and closing it lets it go on', async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  await scene.node.talking.detach();
  await scene.place.store.transaction(
    async (tx) => void (await tx.db.updateTable('session_run').set({ dialogue: '{}' }).execute()),
  );
  await startAgain();
  await stateIs(id, 'failed');
  expect(talker.ended).toBe(true);
  await scene.node.sessions.leave(id, 'close');
  await stateIs(id, 'dormant');
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await given('two');
});

it('an input that is taken back, or stopped before it was sent, is told to whoever watches', async () => {
  const { id } = await begin();
  await given('one');
  const { id: two } = await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
  await scene.node.sessions.removeTurn(id, two);
  const events = await scene.place.store.ownEvents({ owner: id, after: 0, limit: 100 });
  expect(events.map(({ body }) => (body.kind === 'notice' ? body.text : '')).join()).toContain(`${two} was taken back`);
});

it('what many sessions do is answered for each, or refused', async () => {
  const { id } = await begin();
  const { sessionActivity } = sessionHandlers({
    store: scene.place.store,
    sessions: scene.node.sessions,
    attachedState: async () => null,
  });
  const ask = async (ids: string[]) =>
    sessionActivity({ query: { ids: ids.join(',') } } as Parameters<typeof sessionActivity>[0]);
  expect((await ask([id, 'ses_none'])).items.map(({ activity }) => activity)).toEqual([expect.any(String), 'missing']);
  expect(await codeOf(ask(Array.from({ length: 65 }, () => id)))).toBe('invalid_input');
});

describe('one request', () => {
  it('makes one session, also when it comes twice at once', async () => {
    const both = await Promise.all([begin({ requestId: 'r1' }), begin({ requestId: 'r1' })]);
    expect(both.map(({ id }) => id)).toEqual([both[0].id, both[0].id]);
    expect(new Set(both.map(({ replayed }) => replayed))).toEqual(new Set([false, true]));
    expect(await codeOf(begin({ requestId: 'r1', prompt: 'another' }))).toBe('request_conflict');
  });

  it('stays what was asked for when its input is changed, and the queue stays within its limits', async () => {
    const { id } = await begin();
    await given('one');
    const { id: turn } = await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 't1' });
    await scene.node.sessions.setTurn(id, turn, { text: 'two, and more', was: 'two' });
    // Another window saw the text before: what is there now is not written over.
    expect(await codeOf(scene.node.sessions.setTurn(id, turn, { text: 'another two', was: 'two' }))).toBe('conflict');
    const again = await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 't1' });
    expect([again.id, again.text, again.replayed]).toEqual([turn, 'two, and more', true]);
    await scene.node.sessions.addTurn(id, { text: 'x'.repeat(4_000_000), kind: 'prompt' });
    expect(await codeOf(scene.node.sessions.setTurn(id, turn, { text: 'y'.repeat(4_000_000) }))).toBe('limit_reached');
  });
});

it('a session is found by its id whatever another is called, and of those that ended the newest by its name', async () => {
  const [first, second] = [await begin({ name: 'same' }), await begin({ name: 'other' })];
  await scene.place.store.transaction(
    async (tx) => void (await tx.db.updateTable('session').set({ name: first.id }).where('id', '=', second.id).execute()),
  );
  expect((await scene.node.sessions.show(first.id)).id).toBe(first.id);
  const third = await begin({ name: 'same' });
  expect(await codeOf(scene.node.sessions.show('same'))).toBe('ambiguous');
  for (const { id } of [first, third]) {
    await scene.node.sessions.leave(id, 'end');
    await stateIs(id, 'ended');
  }
  expect((await scene.node.sessions.show('same')).id).toBe(third.id);
});
