import { describe, expect, it } from 'vitest';
import { createScene, echo, init, result, until } from '../../../test/talking-scene.ts';

const { scene, begin, given, startAgain, turnIs } = createScene();

const show = (id: string) => scene.node.sessions.show(id);
const titled = (id: string, title: string) => until(`the title ${title}`, async () => (await show(id)).title === title);

/** One turn, answered. */
const turn = async (id: string, text = 'one'): Promise<void> => {
  const talker = await given(text);
  talker.say(init, echo(text), result);
  await turnIs(id, text, 'ended');
};

describe('what a session is about', () => {
  it('are the first words of its first input, and it is called like its environment', async () => {
    const { id } = await begin({ prompt: undefined });
    expect(await show(id)).toMatchObject({ name: 'talk', nameGiven: false, title: 'talk' });
    await scene.node.sessions.addTurn(id, { text: 'one', kind: 'prompt' });
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    expect(await show(id)).toMatchObject({ name: 'talk', nameGiven: false, title: 'one' });
    await turn(id);
    expect((await show(id)).title).toBe('one');
  });

  it('is asked of a model once where there is one for it, with the first input alone', async () => {
    const heard: string[] = [];
    scene.place.titleModel = 'anthropic/small';
    scene.place.answer = async (text) => (heard.push(text), '"A title."');
    const { id } = await begin();
    await turn(id);
    await titled(id, 'A title');
    await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt' });
    await turn(id, 'two');
    await startAgain();
    expect(heard).toEqual(['one']);
    expect((await show(id)).name).toBe('talk');
  });

  it('is the name that a person gave, before and after a model was asked', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const asked: string[] = [];
    scene.place.titleModel = 'anthropic/small';
    scene.place.answer = (text) => (asked.push(text), promise);
    const { id } = await begin();
    await turn(id);
    await until('the question', () => asked.length === 1);
    expect(await scene.node.sessions.set(id, { name: 'mine' })).toMatchObject({ name: 'mine', nameGiven: true, title: 'mine' });
    resolve('Theirs');
    await new Promise((done) => setTimeout(done, 50));
    expect((await show(id)).title).toBe('mine');
    const named = await begin({ name: 'given' });
    expect(named).toMatchObject({ name: 'given', nameGiven: true, title: 'given' });
  });

  it('stays the first words when the model says nothing of use', async () => {
    const asked: string[] = [];
    scene.place.titleModel = 'anthropic/small';
    scene.place.answer = async (text) => {
      asked.push(text);
      throw new Error('no answer');
    };
    const { id } = await begin();
    await turn(id);
    await until('the question', () => asked.length === 1);
    expect((await show(id)).title).toBe('one');
  });
});
