import type { PolicyNote, SessionCreate } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import type { Talker } from '../../../test/talking-place.ts';
import { createScene, echo, init, result, until } from '../../../test/talking-scene.ts';
import { listAudit } from '../../audit/index.ts';

const { scene, begin, given, stateIs } = createScene();

const asksFor = (id: string, input: object, tool = 'Bash') => ({
  ...{ type: 'control_request', request_id: id },
  request: { subtype: 'can_use_tool', tool_name: tool, input },
});
const note = (verdict: PolicyNote['verdict'], text: string): PolicyNote => ({ verdict, rule: 'r', file: '/own/a.yaml', text });

describe('what a program asks is decided by the policies first:', () => {
  const talkingIn = async (more: Partial<SessionCreate>): Promise<{ id: string; talker: Talker }> => {
    const { id } = await begin(more);
    const talker = await given('one');
    talker.say(init, echo('one'));
    return { id, talker };
  };
  const asked = async (id: string) => {
    const [item] = await until('the question', async () => {
      const items = await scene.node.interactions.list({ sessionId: id, all: true });
      return items.length > 0 ? items : null;
    });
    return item!;
  };
  const heard = (talker: Talker, text: string) =>
    until(text, () => talker.heard.some((frame) => JSON.stringify(frame).includes(text)));

  it('what is allowed happens, and is recorded with its rule', async () => {
    const { id, talker } = await talkingIn({ mode: 'ask', unattended: 'decline' });
    scene.place.policies = ({ project, harness, workdir, ask }) =>
      note('allow', [project.id, harness, workdir, ask.command].join(' '));
    talker.say(asksFor('q1', { command: 'ls' }));
    await heard(talker, '"behavior":"allow"');
    const item = await asked(id);
    expect([item.state, item.outcome, item.by]).toEqual(['settled', 'approved', 'rule:r']);
    expect(item.ask.policy).toEqual(note('allow', 'prj_1 talker /place ls'));
    expect(await listAudit(scene.place.store.read, { limit: 1, action: 'approval' })).toMatchObject([
      { actor: 'rule:r', action: 'approval.allow', subject: item.id, outcome: 'done', detail: { session: id, kind: 'command' } },
    ]);
  });

  it('what is denied does not happen, whatever the mode is, and the agent is told why', async () => {
    const { id, talker } = await talkingIn({ mode: 'all' });
    scene.place.policies = () => note('deny', 'Pushes go through review.');
    talker.say(asksFor('q1', { command: 'git push' }));
    await heard(talker, 'Pushes go through review.');
    const item = await asked(id);
    expect([item.outcome, item.by]).toEqual(['denied', 'rule:r']);
    expect(await listAudit(scene.place.store.read, { limit: 1, action: 'approval' })).toMatchObject([
      { action: 'approval.deny', outcome: 'refused' },
    ]);
  });

  it('what a rule has asked waits for a person in each mode', async () => {
    const { id, talker } = await talkingIn({ mode: 'all' });
    scene.place.policies = () => note('ask', 'Is it the right host?');
    talker.say(asksFor('q1', { command: 'deploy' }));
    await stateIs(id, 'waiting');
    expect((await asked(id)).ask.policy?.text).toBe('Is it the right host?');
  });

  it("what a rule has asked is nobody's to allow where nobody is there", async () => {
    const { id, talker } = await talkingIn({ mode: 'all', unattended: 'decline' });
    scene.place.policies = () => note('ask', 'Is it the right host?');
    talker.say(asksFor('q1', { command: 'deploy' }));
    await heard(talker, 'Go on without it');
    expect((await asked(id)).by).toBe('rule "unattended decline"');
  });

  it('what cannot be shown whole is not allowed', async () => {
    const { id, talker } = await talkingIn({ mode: 'ask' });
    scene.place.policies = () => note('allow', 'so');
    talker.say(asksFor('q1', { command: 'x'.repeat(3_000_000) }));
    await stateIs(id, 'waiting');
    expect((await asked(id)).ask.outcomes).toEqual(['denied']);
  });

  it('what waits is decided by a rule that comes later, once, and told as if it were asked now', async () => {
    const { id, talker } = await talkingIn({ mode: 'ask' });
    talker.say(
      asksFor('q1', { command: 'npm test' }),
      asksFor('q2', { command: 'git push' }),
      asksFor('q3', { command: 'deploy' }),
    );
    await stateIs(id, 'waiting');
    await until('all of it', async () => (await scene.node.interactions.list({ sessionId: id, all: false })).length === 3);
    scene.place.policies = ({ ask }) =>
      ask.command === 'npm test'
        ? note('allow', 'so')
        : ask.command === 'git push'
          ? note('deny', 'Not by an agent.')
          : note('ask', '?');
    scene.place.policyStamp = 'others';
    await heard(talker, '"behavior":"allow"');
    await heard(talker, 'Not by an agent.');
    const items = await scene.node.interactions.list({ sessionId: id, all: true });
    expect(items.map(({ ask, outcome, by }) => [ask.command, outcome, by].join(' ')).toSorted()).toEqual([
      'deploy  ',
      'git push denied rule:r',
      'npm test approved rule:r',
    ]);
    expect((await scene.node.sessions.show(id)).state).toBe('waiting');
    expect(
      (await listAudit(scene.place.store.read, { limit: 9, action: 'approval' })).map(({ action }) => action).toSorted(),
    ).toEqual(['approval.allow', 'approval.deny']);
    expect(talker.heard.filter((frame) => JSON.stringify(frame).includes('behavior')).length).toBe(2);
  });

  it('files that did not change decide nothing anew, and neither does a person who was faster lose', async () => {
    const { id, talker } = await talkingIn({ mode: 'ask' });
    talker.say(asksFor('q1', { command: 'ls' }));
    await stateIs(id, 'waiting');
    const { id: asking, revision } = await asked(id);
    let judged = 0;
    scene.place.policies = () => {
      judged += 1;
      return note('deny', 'no');
    };
    await scene.node.interactions.answer(asking, { revision, outcome: 'approved', by: 'ann' });
    scene.place.policyStamp = 'others';
    await heard(talker, '"behavior":"allow"');
    talker.say(result);
    await stateIs(id, 'idle');
    expect([(await asked(id)).by, judged]).toEqual(['ann', 0]);
  });
});
