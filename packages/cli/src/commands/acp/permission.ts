// Questions of an agent, put to the person in the editor. Nothing but a whole answer to the very question counts; whatever
// else comes (or nothing) leaves it open for others.
import { methods, type AgentContext, type PermissionOption, type RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { InteractionAnswer, InteractionAsk } from '@orrery/protocol';
import { answerOfForm, formOf } from './form.ts';
import type { Place } from './place.ts';
import { askFace } from './tools.ts';

/** What an editor can be asked with. */
export type Asking = {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly place: Place;
  /** Whether it can ask for words. */
  readonly forms: boolean;
  readonly signal: AbortSignal;
};

export type Question = {
  readonly id: string;
  readonly ask: InteractionAsk;
  /** The tool call that it is about, as the editor knows it. */
  readonly toolCallId: string;
};

/** The answer without its revision; null: there was none that counts. */
export type Answer = Omit<InteractionAnswer, 'revision'> | null;

const CHOICE = 'choice-';

/** What can be chosen. */
export const optionsOf = ({ outcomes, questions }: InteractionAsk): PermissionOption[] => [
  ...(outcomes.includes('approved') ? [{ optionId: 'approved', name: 'Allow once', kind: 'allow_once' as const }] : []),
  ...(outcomes.includes('approved-for-session')
    ? [{ optionId: 'approved-for-session', name: 'Allow for this session', kind: 'allow_always' as const }]
    : []),
  ...(outcomes.includes('answered')
    ? (questions[0]?.choices ?? []).map(({ label }, index) => ({
        optionId: `${CHOICE}${index}`,
        name: label,
        kind: 'allow_once' as const,
      }))
    : []),
  ...(outcomes.includes('denied') ? [{ optionId: 'denied', name: 'Reject', kind: 'reject_once' as const }] : []),
];

/** Whether one choice alone does not answer it. */
export const wantsWords = ({ outcomes, questions }: InteractionAsk): boolean =>
  outcomes.includes('answered') &&
  (questions.length !== 1 || questions.some(({ choices, several }) => several || choices.length === 0));

/** The answer that an option stands for; null: it is none of those that were offered. */
export const answerOf = (ask: InteractionAsk, optionId: string): Answer => {
  if (!optionsOf(ask).some((option) => option.optionId === optionId)) return null;
  if (optionId === 'approved' || optionId === 'approved-for-session' || optionId === 'denied') return { outcome: optionId };
  const [question] = ask.questions;
  const chosen = question?.choices[Number(optionId.slice(CHOICE.length))];
  return question === undefined || chosen === undefined
    ? null
    : { outcome: 'answered', answers: { [question.key]: chosen.value } };
};

/** Puts a question. @throws whatever the editor answers instead, or the reason of `signal` */
export const askEditor = (asking: Asking, question: Question): Promise<Answer> =>
  wantsWords(question.ask) && asking.forms ? askForWords(asking, question) : askToChoose(asking, question);

const askToChoose = async ({ client, sessionId, place, signal }: Asking, { ask, toolCallId }: Question): Promise<Answer> => {
  const toolCall = { toolCallId, status: 'pending' as const, ...askFace(ask, place) };
  const params: RequestPermissionRequest = { sessionId, toolCall, options: optionsOf(ask) };
  const { outcome } = await client.request(methods.client.session.requestPermission, params, {
    cancellationSignal: signal,
    stopWaitingOnCancel: true,
  });
  return outcome.outcome === 'selected' ? answerOf(ask, outcome.optionId) : null;
};

const askForWords = async ({ client, sessionId, signal }: Asking, { ask, toolCallId }: Question): Promise<Answer> => {
  const answer = await client.request(
    methods.client.elicitation.create,
    { mode: 'form', sessionId, toolCallId, message: ask.title, requestedSchema: formOf(ask.questions) },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  return answer.action === 'decline' ? { outcome: 'denied' } : answer.action === 'accept' ? answerOfForm(ask, answer) : null;
};
