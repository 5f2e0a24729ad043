import { describe, expect, it } from 'vitest';
import type { Talker } from '../../../test/talking-place.ts';
import { createScene, echo, init, result, until, wordsOf } from '../../../test/talking-scene.ts';
import { USAGE_LIMIT_MS, USAGE_PROBE_MS } from '../../usage/limits.ts';
import { liftLimits } from '../account-limits.ts';
import { lineHarness } from '../../../test/run-parts.ts';

const { scene, begin, given, startAgain, stateIs, turnIs } = createScene();

const HOUR_MS = 3_600_000;
const usedUp = { ...result, subtype: 'error', is_error: true, result: 'You have hit your usage limit.' };
const rejected = (resetsAtMs: number) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt: Math.floor(resetsAtMs / 1000) },
});

/** What a program was given. */
const wordsTo = (talker: Talker): string[] => talker.heard.flatMap((frame) => wordsOf(frame) ?? []);
const allWords = (): string[] => scene.place.talkers.flatMap(wordsTo);
const say = (id: string, text: string) => scene.node.sessions.addTurn(id, { text, kind: 'prompt' });
const quiet = async (): Promise<void> => {
  let rounds = 0;
  await until('some time to pass', () => ++rounds > 20);
};

/** A session whose first turn met a limit; null: nobody said until when. */
const met = async (inMs: number | null): Promise<{ id: string; talker: Talker }> => {
  const { id } = await begin();
  const talker = await given('one');
  const told = inMs === null ? [] : [rejected(scene.place.clock.nowMs() + inMs)];
  talker.say(init, echo('one'), ...told, usedUp);
  expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'limit' });
  return { id, talker };
};

describe('a usage limit', () => {
  it('keeps what waits, of every session of the account, until it is over, and then all goes on by itself', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    const other = await begin({ prompt: 'three' });
    await quiet();
    expect(allWords()).toEqual(['one']);
    const { limit, queued } = await scene.node.sessions.show(id);
    expect([limit?.account, limit?.told, queued]).toEqual(['talker/own', true, 1]);
    expect(Date.parse(limit?.until ?? '') - scene.place.clock.nowMs()).toBeGreaterThan(HOUR_MS - 60_000);
    expect((await scene.node.sessions.show(other.id)).limit).toEqual(limit);
    scene.place.pass(HOUR_MS);
    await until('both to be sent', () => allWords().length === 3);
    expect(allWords().toSorted()).toEqual(['one', 'three', 'two']);
    expect((await scene.node.sessions.show(id)).limit).toBeNull();
  });

  it('sends the input that met it no second time', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    scene.place.pass(HOUR_MS);
    const talker = await given('two');
    talker.say(echo('two'), result);
    await turnIs(id, 'two', 'ended');
    await stateIs(id, 'idle');
    expect(allWords()).toEqual(['one', 'two']);
  });

  it('holds over a start of the node, and is lifted after one', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    await scene.node.talking.detach();
    await startAgain();
    await quiet();
    expect(allWords()).toEqual(['one']);
    await scene.node.talking.detach();
    scene.place.pass(HOUR_MS);
    await startAgain();
    await given('two');
  });

  it('that was lifted by a node that died before it told anybody is over for the next one', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    await scene.node.talking.detach();
    scene.place.pass(HOUR_MS);
    const { store, clock } = scene.place;
    const lifted = await liftLimits({ store, clock, harness: () => ({ ...lineHarness, id: 'talker' }) });
    expect(lifted).toEqual(['talker/own']);
    await startAgain();
    await given('two');
  });

  it('of which nobody said when it ends is tried again after a while', async () => {
    const { id } = await met(null);
    await say(id, 'two');
    expect((await scene.node.sessions.show(id)).limit).toMatchObject({ told: false });
    await quiet();
    expect(allWords()).toEqual(['one']);
    scene.place.pass(USAGE_LIMIT_MS);
    await given('two');
  });

  it('of which nobody said when it ends lets one go to find out, and the others when that one succeeded', async () => {
    const { id } = await met(null);
    await say(id, 'two');
    const other = await begin({ prompt: 'three' });
    await begin({ prompt: 'four' });
    scene.place.pass(USAGE_LIMIT_MS);
    const talker = await given('two');
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    expect((await scene.node.sessions.show(other.id)).limit).toMatchObject({ told: false });
    talker.say(echo('two'), result);
    await until('the others to be sent', () => allWords().length === 4);
    expect(allWords().toSorted()).toEqual(['four', 'one', 'three', 'two']);
    expect((await scene.node.sessions.show(other.id)).limit).toBeNull();
  });

  it('that the one which was let go meets again holds everybody up for twice as long', async () => {
    const { id } = await met(null);
    await say(id, 'two');
    await begin({ prompt: 'three' });
    scene.place.pass(USAGE_LIMIT_MS);
    (await given('two')).say(echo('two'), usedUp);
    expect(await turnIs(id, 'two', 'ended')).toMatchObject({ outcome: 'limit' });
    scene.place.pass(USAGE_LIMIT_MS);
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    scene.place.pass(USAGE_LIMIT_MS);
    await given('three');
  });

  it('of which the one that was let go says nothing lets another one go after a while', async () => {
    const { id } = await met(null);
    await say(id, 'two');
    await begin({ prompt: 'three' });
    await begin({ prompt: 'four' });
    scene.place.pass(USAGE_LIMIT_MS);
    await given('two');
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    scene.place.pass(USAGE_PROBE_MS);
    await given('three');
    await quiet();
    expect(allWords()).toEqual(['one', 'two', 'three']);
  });

  it('can be gone past by a person, for one session; when that succeeds, everybody goes on', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    const other = await begin({ prompt: 'three' });
    await scene.node.sessions.resume(id);
    const talker = await given('two');
    expect((await scene.node.sessions.show(id)).limit).toBeNull();
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    talker.say(echo('two'), result);
    await until('three to be sent', () => allWords().includes('three'));
    expect((await scene.node.sessions.show(other.id)).limit).toBeNull();
  });

  it('that a person went past and that is met again holds again', async () => {
    const { id } = await met(HOUR_MS);
    await say(id, 'two');
    await say(id, 'three');
    await scene.node.sessions.resume(id);
    const talker = await given('two');
    talker.say(echo('two'), rejected(scene.place.clock.nowMs() + HOUR_MS), usedUp);
    expect(await turnIs(id, 'two', 'ended')).toMatchObject({ outcome: 'limit' });
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    expect((await scene.node.sessions.show(id)).limit).toMatchObject({ told: true });
  });
});

describe('a session that may have so many turns', () => {
  it('keeps what waits after the last one, whatever comes, until it may have more', async () => {
    const { id } = await begin({ maxTurns: 1 });
    const talker = await given('one');
    talker.say(init, echo('one'));
    await say(id, 'two');
    talker.say(result);
    expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'success' });
    await say(id, 'three');
    await scene.node.sessions.resume(id);
    await quiet();
    expect(allWords()).toEqual(['one']);
    expect(await scene.node.sessions.show(id)).toMatchObject({ queued: 2, budget: { usd: null, turns: 1, reached: 'turns' } });
    await scene.node.talking.detach();
    await startAgain();
    await quiet();
    expect(allWords()).toEqual(['one']);
    await scene.node.sessions.set(id, { maxTurns: 2 });
    scene.place.talkers.at(-1)!.say(echo('two'), result);
    await turnIs(id, 'two', 'ended');
    await quiet();
    expect(allWords()).toEqual(['one', 'two']);
    await scene.node.sessions.set(id, { maxTurns: null });
    await given('three');
  });
});

describe('a session that may cost so much', () => {
  const cost = (id: string, cost_usd: number): Promise<void> =>
    scene.place.store.transaction(async (tx) => {
      const call = { task_id: id, environment_id: id, provider: 'p', model: 'm', status: 200, started_at: 1, ended_at: 2 };
      const tokens = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, reasoning_tokens: 0 };
      await tx.db
        .insertInto('model_call')
        .values({ ...call, ...tokens, cost_usd })
        .execute();
    });
  const reached = async (id: string) => (await scene.node.sessions.show(id)).budget;

  it('keeps what waits once it has, also when a larger budget is still too small', async () => {
    const { id } = await begin({ budgetUsd: 2 });
    const talker = await given('one');
    talker.say(init, echo('one'));
    await say(id, 'two');
    await cost(id, 2.5);
    talker.say(result);
    await turnIs(id, 'one', 'ended');
    await quiet();
    expect([allWords(), await reached(id)]).toEqual([['one'], { usd: 2, turns: null, reached: 'usd' }]);
    await scene.node.sessions.set(id, { budgetUsd: 2.25 });
    await scene.node.sessions.set(id, { name: 'other' });
    await quiet();
    expect([allWords(), await reached(id)]).toEqual([['one'], { usd: 2.25, turns: null, reached: 'usd' }]);
    await scene.node.sessions.set(id, { budgetUsd: 3 });
    await given('two');
    expect(await reached(id)).toEqual({ usd: 3, turns: null, reached: null });
  });
});
