import { describe, expect, it } from 'vitest';
import { anAsk, aTurn, play } from '../../../test/chat-facts.ts';
import { textOf } from './composer.ts';
import { keysOf, pasted } from './keys.ts';
import { GUARD_MS, isArmed } from './state.ts';

const enter = { kind: 'enter' } as const;
const escape = { kind: 'escape' } as const;
const running = { session: { state: 'running' } } as const;
const waiting = { state: 'waiting' } as const;

describe('writing', () => {
  it('sends with Enter, and goes on in a new line behind a backslash and with Alt-Enter', () => {
    const chat = play();
    chat.type('one\\');
    chat.press(enter);
    chat.type('two');
    chat.press({ kind: 'newline' });
    chat.type('three');
    chat.press(enter);
    const text = 'one\ntwo\nthree';
    expect(chat.effects()).toEqual([
      { kind: 'remember', text },
      { kind: 'send', sending: { key: 0, text, steer: false } },
    ]);
    expect(chat.played.state.sending.map((sending) => sending.text)).toEqual([text]);
    chat.take({ kind: 'sent', key: 0, turn: aTurn('trn_1') });
    expect([chat.played.state.sending, chat.played.state.turns.map(({ id }) => id)]).toEqual([[], ['trn_1']]);
  });

  it('sends nothing of what is pasted, whether the terminal marks a paste or not', () => {
    const chat = play();
    chat.press(pasted('one\r\ntwo\r\n'));
    chat.press(...keysOf('three\rfour\r', {}));
    expect([chat.effects(), textOf(chat.played.state.composer)]).toEqual([[], 'one\ntwo\nthree\nfour\n']);
  });

  it('takes keys that came in one piece one by one', () => {
    const chat = play();
    chat.press(...keysOf('abc\u0015hello\r', {}));
    expect(chat.effects().at(-1)).toEqual({ kind: 'send', sending: { key: 0, text: 'hello', steer: false } });
  });

  it('steers the turn that runs, and queues when none does', () => {
    const chat = play();
    chat.type('a');
    chat.press({ kind: 'steer' });
    chat.facts(running);
    chat.type('b');
    chat.press({ kind: 'steer' });
    chat.type('/steer c');
    chat.press(enter);
    const sent = chat
      .effects()
      .flatMap((effect) => (effect.kind === 'send' ? [[effect.sending.text, effect.sending.steer]] : []));
    expect(sent).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ]);
  });

  it('goes through what was written before and comes back to what is being written', () => {
    const chat = play({}, undefined, ['first', 'second']);
    const up = { kind: 'edit', edit: 'up' } as const;
    const down = { kind: 'edit', edit: 'down' } as const;
    chat.type('draft');
    const seen = [up, up, up, down, down, down].map((key) => textOf(chat.press(key).state.composer));
    expect(seen).toEqual(['second', 'first', 'first', 'second', 'draft', 'draft']);
  });

  it('leaves with Ctrl-D when nothing is written, and with the second Ctrl-C', () => {
    const chat = play();
    chat.type('x');
    chat.press({ kind: 'end' });
    chat.press({ kind: 'leave' });
    expect([textOf(chat.played.state.composer), chat.effects(), chat.played.state.hint?.text]).toEqual([
      '',
      [{ kind: 'remember', text: 'x' }],
      expect.stringContaining('Ctrl-C again leaves; the session goes on.'),
    ]);
    chat.wait(3_100);
    chat.press({ kind: 'leave' });
    expect(chat.effects()).toEqual([]);
    chat.press({ kind: 'leave' });
    expect(chat.effects()).toEqual([{ kind: 'leave' }]);
    chat.press({ kind: 'end' });
    expect(chat.effects()).toEqual([{ kind: 'leave' }]);
  });

  it('stops the turn that runs with Escape, once, and says so', () => {
    const chat = play();
    chat.press(escape);
    chat.facts(running);
    chat.press(escape, escape);
    expect(chat.effects()).toEqual([{ kind: 'interrupt' }]);
    expect(chat.played.state.hint?.text).toContain('being stopped');
  });
});

describe('commands', () => {
  it('refuses one that there is not and never sends it', () => {
    const chat = play();
    chat.type('/hepl me');
    chat.press(enter);
    expect([chat.effects(), chat.played.state.hint?.text]).toEqual([[], expect.stringContaining('Did you mean /help?')]);
    expect(textOf(chat.played.state.composer)).toBe('/hepl me');
  });

  it('sends what begins with a space', () => {
    const chat = play();
    chat.type(' /usr/bin is broken');
    chat.press(enter);
    expect(chat.effects().at(-1)).toMatchObject({ kind: 'send' });
  });

  it('completes names and words', () => {
    const chat = play();
    chat.type('/mo');
    chat.press({ kind: 'tab' });
    chat.type('ed');
    chat.press({ kind: 'tab' });
    chat.press(enter);
    expect(chat.effects()).toEqual([{ kind: 'set', set: { mode: 'edits' } }]);
  });

  it('ends a session only when it is told so twice', () => {
    const chat = play();
    chat.type('/end');
    chat.press(enter);
    expect(chat.effects()).toEqual([]);
    chat.type('/end now');
    chat.press(enter);
    expect(chat.effects()).toEqual([{ kind: 'end' }]);
  });
});

describe('a question', () => {
  const asked = (more = {}) => {
    const chat = play();
    chat.facts({ session: waiting, asks: [anAsk('int_1', more)] });
    return chat;
  };

  it('is answered by a key that is pressed when it was there for a while', () => {
    for (const [key, outcome] of [
      ['y', 'approved'],
      ['s', 'approved-for-session'],
    ] as const) {
      const chat = asked();
      chat.wait(GUARD_MS);
      chat.type(key);
      chat.type(key);
      expect(chat.effects()).toEqual([{ kind: 'answer', interaction: 'int_1', revision: 1, outcome }]);
    }
  });

  it('is never answered by what was typed before it appeared, or goes on being typed', () => {
    const chat = asked();
    chat.type('y');
    for (const one of 'es yes') {
      chat.wait(GUARD_MS - 100);
      chat.type(one);
    }
    chat.wait(GUARD_MS * 10);
    chat.type('y');
    expect([chat.effects(), textOf(chat.played.state.composer)]).toEqual([[], 'yes yesy']);
    chat.press({ kind: 'tab' });
    expect(isArmed(chat.played.state)).toBe(true);
    chat.type('y');
    expect(chat.effects()).toMatchObject([{ kind: 'answer', outcome: 'approved' }]);
  });

  it('does not take the keys when something is being written', () => {
    const chat = play();
    chat.type('please do not ');
    chat.facts({ session: waiting, asks: [anAsk('int_1')] });
    chat.wait(GUARD_MS * 3);
    chat.type('y');
    expect([chat.effects(), textOf(chat.played.state.composer)]).toEqual([[], 'please do not y']);
  });

  it('is answered by no paste and by no key among others', () => {
    const chat = asked();
    chat.wait(GUARD_MS);
    chat.press(pasted('y'));
    chat.press(...keysOf('yy', {}));
    expect(chat.effects()).toEqual([]);
  });

  it('waits again when the next one appears, and when it was changed', () => {
    const chat = asked();
    chat.wait(GUARD_MS);
    chat.type('y');
    chat.facts({ session: waiting, asks: [anAsk('int_2')] });
    chat.type('y');
    expect(chat.effects()).toMatchObject([{ interaction: 'int_1' }]);
    const changed = asked();
    changed.wait(GUARD_MS);
    changed.facts({ session: waiting, asks: [anAsk('int_1', { revision: 2 })] });
    expect(isArmed(changed.played.state)).toBe(false);
  });

  it('is denied with words, or goes back with Escape', () => {
    const chat = asked();
    chat.wait(GUARD_MS);
    chat.type('n');
    chat.press(escape);
    chat.wait(GUARD_MS);
    chat.type('n');
    chat.type('use make');
    chat.press(enter);
    expect(chat.effects()).toEqual([
      { kind: 'answer', interaction: 'int_1', revision: 1, outcome: 'denied', message: 'use make' },
    ]);
  });

  it('keeps words for a question that somebody else answered as what is being written', () => {
    const chat = asked();
    chat.wait(GUARD_MS);
    chat.type('n');
    chat.type('because');
    chat.facts({});
    chat.press(enter);
    expect(chat.effects().at(-1)).toMatchObject({ kind: 'send', sending: { text: 'because' } });
  });

  it('offers what can be answered alone', () => {
    const chat = asked({ ask: { outcomes: ['denied'] } });
    chat.wait(GUARD_MS);
    chat.type('y');
    expect(chat.effects()).toEqual([]);
  });

  it('is answered with a choice or with words', () => {
    const choices = ['red', 'blue'].map((value) => ({ value, label: value, description: null }));
    const one = {
      ...{ header: null, text: 'Which?', type: 'text', choices, several: false, free: true, required: true },
      ...{ min: null, max: null, format: null, initial: null },
    } as const;
    const questions = [
      { ...one, key: 'q1' },
      { ...one, key: 'q2', several: true },
    ];
    const question = {
      ask: { kind: 'question', command: null, title: '2 questions', questions, outcomes: ['answered', 'denied'] },
    } as const;
    const chat = asked(question);
    chat.wait(GUARD_MS);
    chat.type('2');
    chat.press(enter);
    expect(chat.effects()).toEqual([]);
    chat.press(enter);
    const own = asked(question);
    own.wait(GUARD_MS);
    own.type('wgreen');
    own.press(enter);
    own.wait(GUARD_MS);
    own.type('wRed, yellow');
    own.press(enter);
    const said = [chat, own].map((each) => each.effects().map((effect) => ('answers' in effect ? effect.answers : effect.kind)));
    expect(said).toEqual([[{ q1: 'blue', q2: ['red'] }], [{ q1: 'green', q2: ['red', 'yellow'] }]]);
  });
});

describe('the queue', () => {
  const queued = (...turns: Parameters<typeof aTurn>[]) => {
    const chat = play();
    chat.facts({ ...running, turns: turns.map((one) => aTurn(...one)) });
    chat.press({ kind: 'queue' });
    return chat;
  };

  it('is edited, reordered, and sent now', () => {
    const chat = queued(['one'], ['two']);
    chat.press({ kind: 'edit', edit: 'down' });
    chat.type('[');
    chat.type('n');
    chat.type('x');
    chat.type('e');
    chat.type('!');
    chat.press(enter);
    expect(chat.effects()).toEqual([
      { kind: 'move', turn: 'two', position: 0 },
      { kind: 'now', turn: 'one' },
      { kind: 'remove', turn: 'one' },
      { kind: 'reword', turn: 'one', text: 'text of one!' },
    ]);
  });

  it('asks about an input of which nobody knows whether it arrived', () => {
    const chat = queued(['one', { state: 'uncertain' }], ['two']);
    chat.type('e');
    chat.type('r');
    chat.press({ kind: 'edit', edit: 'down' });
    chat.type('[');
    expect(chat.effects()).toEqual([{ kind: 'decide', turn: 'one', decision: 'retry' }]);
  });
});
