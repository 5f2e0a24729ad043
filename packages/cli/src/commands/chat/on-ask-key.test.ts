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
  expect(effects({})).toEqual([{ kind: 'rule', interaction: 'int_1' }]);
  expect(effects({ ask: { kind: 'tool' } })).toEqual([]);
});
