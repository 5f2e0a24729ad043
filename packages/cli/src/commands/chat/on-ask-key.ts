// Keys at a question that listens. Pure.

import type { InteractionAnswer, InteractionView, Question } from '@orrery/protocol';
import { hasRule, ruleOf } from './ask-lines.ts';
import { emptyComposer, insert } from './composer.ts';
import type { KeyPress } from './keys.ts';
import { questionNow, takeAnswer } from './questions.ts';
import { shownAsk, step, withHint, type ChatState, type Step } from './state.ts';
import { onAnyKey } from './on-write-key.ts';

/** Begins to write words for a question: an answer, or why not. */
const write = (state: ChatState, view: InteractionView, { kind, text = '' }: { kind: 'deny' | 'answer'; text?: string }): Step =>
  step({
    ...state,
    focus: 'write',
    purpose: { kind, interaction: view.id, revision: view.revision },
    draft: state.composer,
    composer: insert(emptyComposer, text),
  });

/** What is answered is not asked again before the node has said what came of it. */
const disarmed = (state: ChatState): ChatState => ({
  ...state,
  asked: state.asked === null ? null : { ...state.asked, armedAtMs: Number.POSITIVE_INFINITY },
});

type Given = Pick<InteractionAnswer, 'outcome' | 'message'>;

const answer = (state: ChatState, view: InteractionView, { outcome, message }: Given): Step => {
  if (!view.ask.outcomes.includes(outcome)) return step(withHint(state, `This cannot be ${outcome}.`));
  return step(disarmed(state), [
    {
      kind: 'answer',
      interaction: view.id,
      revision: view.revision,
      outcome,
      ...(message === undefined ? {} : { message }),
    },
  ]);
};

/** The rule that is shown on the screen goes to the policy file; it is asked for once. */
const addRule = (state: ChatState, view: InteractionView): Step => {
  const rule = ruleOf(state, view);
  return rule === null ? step(state) : step({ ...disarmed(state), rule: null }, [{ kind: 'add-rule', ...rule }]);
};

const choicesOf = (state: ChatState, view: InteractionView): Question['choices'] => questionNow(state, view)?.choices ?? [];

const choose = (state: ChatState, view: InteractionView, choice: number): Step =>
  choice < 0 || choice >= choicesOf(state, view).length ? step(state) : step({ ...state, choice });

const letter = (state: ChatState, view: InteractionView, text: string): Step => {
  const { outcomes } = view.ask;
  const choices = choicesOf(state, view);
  const asksWords = outcomes.includes('answered');
  if (asksWords && choices.length === 0) return write(state, view, { kind: 'answer', text });
  if (asksWords && /^[1-9]$/.test(text)) return choose(state, view, Number(text) - 1);
  if (asksWords && text === 'w') return write(state, view, { kind: 'answer' });
  if (text === 'y') return answer(state, view, { outcome: 'approved' });
  if (text === 's') return answer(state, view, { outcome: 'approved-for-session' });
  if (text === 'r' && hasRule(view.ask)) return step(state, [{ kind: 'rule', interaction: view.id, revision: view.revision }]);
  if (text === 'A' && ruleOf(state, view) !== null) return addRule(state, view);
  if (text === 'n') return write(state, view, { kind: 'deny' });
  return step(withHint(state, 'Tab: write instead.'));
};

/** A key at the question. Only a key that was pressed by itself answers; a paste never does. */
export const askKey = (state: ChatState, key: KeyPress): Step => {
  const view = shownAsk(state);
  if (view === null) return step({ ...state, focus: 'write' });
  if (key.kind === 'text') return key.alone ? letter(state, view, key.text) : step(state);
  if (key.kind === 'tab') return step({ ...state, focus: 'write' });
  if (key.kind === 'edit' && key.edit === 'up') return choose(state, view, state.choice - 1);
  if (key.kind === 'edit' && key.edit === 'down') return choose(state, view, state.choice + 1);
  if (key.kind === 'enter' && view.ask.outcomes.includes('answered')) {
    const chosen = choicesOf(state, view)[state.choice];
    return chosen === undefined ? write(state, view, { kind: 'answer' }) : takeAnswer(state, view, chosen.value);
  }
  return onAnyKey(state, key);
};
