import { describe, expect, it } from 'vitest';
import { codeOf, createScene, echo, init, result, until, wordsOf } from '../../../test/talking-scene.ts';
import { SESSION_STEERS } from '../../session/limits.ts';

const { scene, begin, given, startAgain, turnIs, turnsOf } = createScene();

const say = (id: string, text: string, kind: 'prompt' | 'steer' = 'prompt') => scene.node.sessions.addTurn(id, { text, kind });
const allWords = (): string[] => scene.place.talkers.flatMap(({ heard }) => heard.flatMap((frame) => wordsOf(frame) ?? []));
const interrupts = (): number =>
  scene.place.talkers.flatMap(({ heard }) => heard).filter((frame) => JSON.stringify(frame).includes('"interrupt"')).length;

/** A session in whose first turn two inputs wait. */
const busy = async () => {
  const { id } = await begin();
  const talker = await given('one');
  talker.say(init, echo('one'));
  await turnIs(id, 'one', 'accepted');
  const [two, three] = [await say(id, 'two'), await say(id, 'three')];
  return { id, talker, two, three };
};

describe('an input that is sent now', () => {
  it('goes into the turn that runs, once, whoever says it and how often; what waits before it stays', async () => {
    const { id, talker, three } = await busy();
    const both = await Promise.all([scene.node.sessions.sendNow(id, three.id), scene.node.sessions.sendNow(id, three.id)]);
    expect(both.map(({ kind }) => kind)).toEqual(['steer', 'steer']);
    await given('three');
    talker.say(echo('three'));
    expect(await turnIs(id, 'three', 'ended')).toMatchObject({ outcome: 'success', turn: 1 });
    expect(await codeOf(scene.node.sessions.sendNow(id, three.id))).toBe('conflict');
    expect([allWords(), interrupts()]).toEqual([['one', 'three'], 0]);
    talker.say(result);
    await given('two');
  });

  it('takes the place of a turn into which it cannot go', async () => {
    const { id, talker } = await busy();
    const body = (async function* () {
      yield Buffer.from('a file');
    })();
    const file = await scene.node.sessions.attach(id, { name: 'a.txt', body });
    const four = await scene.node.sessions.addTurn(id, { text: 'four', kind: 'prompt', attachments: [file.id] });
    expect((await scene.node.sessions.sendNow(id, four.id)).kind).toBe('prompt');
    await until('the turn to be told to stop', () => interrupts() === 1);
    talker.say({ ...result, subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' });
    expect(await turnIs(id, 'one', 'ended')).toMatchObject({ outcome: 'cancelled' });
    await until('the file to be sent', () => allWords().some((words) => words.startsWith('four')));
    expect(allWords().map((words) => words.split('\n')[0])).toEqual(['one', 'four']);
  });

  it('is next after a start of the node that knew nothing of it', async () => {
    const { id, talker, three } = await busy();
    await scene.node.talking.detach();
    await scene.node.sessions.sendNow(id, three.id);
    await startAgain();
    await given('three');
    expect([talker.ended, allWords()]).toEqual([false, ['one', 'three']]);
  });

  it('waits behind nothing that a person has to decide', async () => {
    const { id } = await begin();
    (await given('one')).end(1);
    await turnIs(id, 'one', 'uncertain');
    const two = await say(id, 'two');
    expect(await codeOf(scene.node.sessions.sendNow(id, two.id))).toBe('conflict');
  });
});

it('words for a turn beyond their limit are refused, and none of those before is dropped', async () => {
  const { id, talker, two } = await busy();
  talker.deaf = true;
  const asked = Array.from({ length: SESSION_STEERS + 3 }, (_, at) => codeOf(say(id, `steer ${at}`, 'steer')));
  const codes = await Promise.all(asked);
  expect([codes.filter((code) => code === 'none').length, codes.filter((code) => code === 'limit_reached').length]).toEqual([
    SESSION_STEERS,
    3,
  ]);
  expect(await codeOf(scene.node.sessions.sendNow(id, two.id))).toBe('limit_reached');
  const open = (await turnsOf(id)).filter(({ state }) => state === 'pending' || state === 'dispatching');
  expect(open.filter(({ kind }) => kind === 'steer').length).toBe(SESSION_STEERS);
  expect(open.filter(({ text }) => text === 'two' || text === 'three').map(({ kind }) => kind)).toEqual(['prompt', 'prompt']);
});

it('an input that two send at once under one request id is one, and is sent once; another under that id is refused', async () => {
  const { id, talker } = await busy();
  const send = (text: string) => scene.node.sessions.addTurn(id, { text, kind: 'prompt', requestId: 'mine' });
  const sent = await Promise.all([send('four'), send('four'), codeOf(send('five'))]);
  expect([sent[0].id === sent[1].id, Number(sent[0].replayed) + Number(sent[1].replayed), sent[2]]).toEqual([
    true,
    1,
    'request_conflict',
  ]);
  talker.say(result);
  for (const words of ['two', 'three', 'four']) {
    await given(words);
    talker.say(echo(words), result);
    await turnIs(id, words, 'ended');
  }
  expect(allWords()).toEqual(['one', 'two', 'three', 'four']);
});
