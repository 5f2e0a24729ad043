// What is answered to a program that asks in a task: nobody is there. Contract: sessions, "Unattended work".

import type { ConversationBody, InteractionAsk, InteractionOutcome } from '@orrery/protocol';
import { noticeOf } from './frames.ts';

export type UnattendedAnswer = {
  readonly outcome: InteractionOutcome;
  readonly message: string | null;
  /** What the log says of it; a command or a change that was approved stands there already. */
  readonly events: readonly ConversationBody[];
};

/** What the program is told when something cannot happen without a person. */
export const NOBODY_IS_THERE =
  'Nobody is there to answer: this is unattended work. Decide by yourself and go on; say in your last message what you assumed.';

/**
 * The declared rule of every task: what a program wants to do inside its walls is approved, for the walls hold; a plan is
 * approved, for the work was ordered; a question or a form is declined with words. What cannot be approved is denied.
 */
export const answerUnattended = ({ kind, title, outcomes }: InteractionAsk): UnattendedAnswer => {
  if (kind === 'question' || kind === 'form' || !outcomes.includes('approved'))
    return {
      outcome: 'denied',
      message: NOBODY_IS_THERE,
      events: [noticeOf('info', `Declined, for nobody is there: ${title}`)],
    };
  return {
    outcome: 'approved',
    message: null,
    events: kind === 'plan' ? [noticeOf('info', `Approved, for the work was ordered: ${title}`)] : [],
  };
};
