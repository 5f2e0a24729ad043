import { expect, it } from 'vitest';
import { anAsk, play } from '../../../test/chat-facts.ts';
import { GUARD_MS } from './state.ts';

it('a question shows with r the rule that would allow just that, where there can be one', () => {
  const effects = (ask: Parameters<typeof anAsk>[1]) => {
    const chat = play();
    chat.facts({ session: { state: 'waiting' }, asks: [anAsk('int_1', ask)] });
    chat.wait(GUARD_MS);
    chat.type('r');
    return chat.effects();
  };
  expect(effects({})).toEqual([{ kind: 'rule', interaction: 'int_1', revision: 1 }]);
  expect(effects({ ask: { kind: 'tool' } })).toEqual([]);
});

it('A adds the rule that was shown, once, and none that was not, or of what is asked otherwise by now', () => {
  const chat = play();
  const rule = { interaction: 'int_1', revision: 1, name: 'npm-test', yaml: '- name: npm-test\n' };
  chat.facts({ session: { state: 'waiting' }, asks: [anAsk('int_1', {})] });
  chat.wait(GUARD_MS);
  chat.type('A');
  expect(chat.effects()).toEqual([]);
  chat.take({ kind: 'ruled', rule: { ...rule, revision: 2 } });
  chat.type('A');
  expect(chat.effects()).toEqual([]);
  chat.take({ kind: 'ruled', rule });
  chat.type('A');
  chat.type('A');
  expect(chat.effects()).toEqual([{ kind: 'add-rule', ...rule }]);
});
