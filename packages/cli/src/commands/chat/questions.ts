// The questions of what is asked, one after another; the answer goes out when the last one has its own. Pure.

import type { InteractionView, Question } from '@orrery/protocol';
import { valueOf } from '../session/answer-value.ts';
import { step, type ChatState, type Step } from './state.ts';

/** The question that is answered next; null: none is open. */
export const questionNow = ({ given }: Pick<ChatState, 'given'>, { ask }: Pick<InteractionView, 'ask'>): Question | null =>
  ask.questions.find(({ key }) => !Object.hasOwn(given, key)) ?? null;

/** Takes what a person said to that question. Several things stand with commas between them. */
export const takeAnswer = (state: ChatState, view: InteractionView, said: string): Step => {
  const asked = questionNow(state, view);
  if (asked === null) return step(state);
  const texts = asked.several ? said.split(',').map((part) => part.trim()) : [said];
  const given = { ...state.given, [asked.key]: valueOf(asked, texts) };
  if (questionNow({ given }, view) !== null) return step({ ...state, given, choice: 0 });
  return step(
    // What is answered is not asked again before the node has said what came of it.
    {
      ...state,
      given: {},
      choice: 0,
      asked: state.asked === null ? null : { ...state.asked, armedAtMs: Number.POSITIVE_INFINITY },
    },
    [{ kind: 'answer', interaction: view.id, revision: view.revision, outcome: 'answered', answers: given }],
  );
};
