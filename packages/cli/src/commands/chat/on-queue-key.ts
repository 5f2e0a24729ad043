// Keys at the list of inputs that wait. Pure.

import { withText } from './composer.ts';
import type { KeyPress } from './keys.ts';
import { step, withHint, type ChatState, type Effect, type Step } from './state.ts';

const select = (state: ChatState, at: number): Step =>
  at < 0 || at >= state.turns.length ? step(state) : step({ ...state, queueAt: at });

const act = (state: ChatState, text: string): Step => {
  const turn = state.turns[state.queueAt];
  if (turn === undefined) return step({ ...state, focus: 'write' });
  const uncertain = turn.state === 'uncertain';
  const one = (effect: Effect, hint: string): Step => step(withHint(state, hint), [effect]);
  if (uncertain) {
    if (text === 'r')
      return one({ kind: 'decide', turn: turn.id, decision: 'retry' }, 'It is sent again; the agent may have had it already.');
    if (text === 'x') return one({ kind: 'decide', turn: turn.id, decision: 'discard' }, 'It is not sent.');
    return step(withHint(state, 'Nobody knows whether the agent got it: r sends it again, x lets it be.'));
  }
  // Places are counted among those that wait; what is uncertain is not one of them.
  const place = state.turns.slice(0, state.queueAt).filter(({ state: of }) => of === 'pending').length;
  switch (text) {
    case 'e':
      return step({
        ...state,
        focus: 'write',
        purpose: { kind: 'edit', turn: turn.id },
        draft: state.composer,
        composer: withText(state.composer, turn.text),
      });
    case 'x':
      return one({ kind: 'remove', turn: turn.id }, 'It is taken back.');
    case '[':
      return place === 0
        ? step(state)
        : step({ ...state, queueAt: state.queueAt - 1 }, [{ kind: 'move', turn: turn.id, position: place - 1 }]);
    case ']':
      return state.queueAt === state.turns.length - 1
        ? step(state)
        : step({ ...state, queueAt: state.queueAt + 1 }, [{ kind: 'move', turn: turn.id, position: place + 1 }]);
    case 'n':
      return one({ kind: 'now', turn: turn.id }, 'It goes before all others: into the turn that runs, or instead of it.');
    default:
      return step(withHint(state, 'e edit · x take back · [ earlier · ] later · n now · Esc back'));
  }
};

/** A key at the queue. */
export const queueKey = (state: ChatState, key: KeyPress): Step => {
  if (key.kind === 'text') return key.alone ? act(state, key.text) : step(state);
  if (key.kind === 'edit' && key.edit === 'up') return select(state, state.queueAt - 1);
  if (key.kind === 'edit' && key.edit === 'down') return select(state, state.queueAt + 1);
  if (key.kind === 'edit' && (key.edit === 'delete' || key.edit === 'backspace')) return act(state, 'x');
  if (key.kind === 'enter') return act(state, 'e');
  return ['escape', 'queue', 'tab', 'end'].includes(key.kind) ? step({ ...state, focus: 'write' }) : step(state);
};
