import { describe, expect, it } from 'vitest';
import type { ModelCall } from './model-call.ts';
import { createPlaybook } from './playbook.ts';
import { parseScript } from './script.ts';

const TOOL = { name: 't', freeform: false, properties: {} };
const call = (opening: string, last = opening, tools = [TOOL]): ModelCall => ({
  model: 'm',
  stream: true,
  system: '',
  tools,
  turns:
    last === opening
      ? [{ role: 'user', text: opening }]
      : [
          { role: 'user', text: opening },
          { role: 'assistant', text: '' },
          { role: 'tool', text: last },
        ],
});

describe('the queue', () => {
  it('gives steps in order, some of them more than once', () => {
    const book = createPlaybook(parseScript([{ text: 'a', times: 2 }, { text: 'b' }, { text: 'c', times: 'forever' }]));
    expect(Array.from({ length: 5 }, () => book.take(call('x')).step?.text)).toEqual(['a', 'a', 'b', 'c', 'c']);
  });

  it('keeps side calls away from the steps of the conversation', () => {
    const book = createPlaybook(parseScript([{ text: 'main' }, { text: 'side', on: 'side' }, { text: 'any', on: 'any' }]));
    const side = call('x', 'x', []);
    expect([side, side, side, call('x')].map((each) => book.take(each).step?.text)).toEqual(['side', 'any', undefined, 'main']);
  });

  it('chooses by the last turn, and by the prompt that opened the conversation', () => {
    const book = createPlaybook(
      parseScript([
        { text: 'saw', match: 'red$' },
        { text: 'blue', matchPrompt: 'blue task' },
      ]),
    );
    expect(
      [call('green task'), call('blue task', 'went on'), call('green task', 'it is red')].map(
        (each) => book.take(each).step?.text,
      ),
    ).toEqual([undefined, 'blue', 'saw']);
  });
});

describe('a named script', () => {
  const script = {
    steps: [{ text: 'common' }],
    scripts: {
      fix: { marker: '[fix]', steps: [{ text: 'one' }, { text: 'two' }] },
      each: { marker: '[each]', perConversation: true, steps: [{ text: 'first' }, { text: 'second' }] },
    },
  };

  it('is chosen by its marker and shared by the conversations that carry it', () => {
    const book = createPlaybook(parseScript(script));
    expect([call('do [fix]'), call('other'), call('again [fix]'), call('third [fix]')].map((each) => book.take(each))).toEqual([
      { step: { text: 'one' }, script: 'fix' },
      { step: { text: 'common' }, script: '' },
      { step: { text: 'two' }, script: 'fix' },
      { step: undefined, script: 'fix' },
    ]);
  });

  it('is played from its beginning for each conversation if it says so', () => {
    const book = createPlaybook(parseScript(script));
    expect(
      [call('1 [each]'), call('2 [each]'), call('1 [each]', 'more'), call('2 [each]', 'more')].map(
        (each) => book.take(each).step?.text,
      ),
    ).toEqual(['first', 'first', 'second', 'second']);
  });

  it('takes further steps by name, and an unknown name is refused', () => {
    const book = createPlaybook(parseScript(script));
    book.push([{ text: 'three' }], 'fix');
    expect(book.left()['fix']).toEqual([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    expect(() => book.push([], 'fax')).toThrow('script `fax` is not known. Known: fix, each.');
  });
});
