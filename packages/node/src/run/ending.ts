import { toOrreryError, type OrreryError, type Verdict } from '@orrery/protocol';
import type { RunEnd } from '../exec/backend.ts';
import type { GatewayFailure, TurnFailure, TurnOutcome } from '../harness/harness.ts';
import type { Ending } from '../task/index.ts';
import { reachedLimit } from './limit-text.ts';

/** Thrown inside an attempt to end it; carried to `settle`, never to the outside. */
export class AttemptEnded extends Error {
  readonly ending: Ending;
  constructor(ending: Ending) {
    super(ending.reason ?? ending.verdict);
    this.name = 'AttemptEnded';
    this.ending = ending;
  }
}

/** Thrown when the node stops while programs run on: nothing is settled, the next start goes on. */
export class Detached extends Error {
  constructor() {
    super('the node is stopping');
    this.name = 'Detached';
  }
}

/** A check that a turn did not pass. */
export type FailedCheck = {
  /** What the agent is sent back with. */
  readonly prompt: string;
  /** How the attempt ends when it is not sent back any more. */
  readonly ending: Ending;
};

const ending = (verdict: Verdict, cause: string | null, reason: string | null): Ending => ({ verdict, cause, reason });

export const cancelledEnding = ending('cancelled', null, 'Cancelled on request.');
export const acceptedEnding = ending('accepted', null, null);

/** What any failure inside a stage makes of the attempt. */
export const endingOf = (thrown: unknown, cause: string): Ending => {
  if (thrown instanceof AttemptEnded) return thrown.ending;
  const error = toOrreryError(thrown);
  const limit = limitOfPlace(error);
  if (limit !== null) return ending('limit', limit, `${error.message} It ${reachedLimit(limit).text}`);
  if (error.code === 'keeper_lost' || error.code === 'backend_unreachable')
    return ending('interrupted', 'infrastructure', error.message);
  if (error.code === 'deadline') return ending('failed', 'timeout', error.message);
  if (error.code === 'disk_full') return ending('interrupted', 'infrastructure', error.message);
  return ending('failed', cause, error.toLines().join(' '));
};

/** The bound for which the place of a program was taken away, with everything in it; null: it was not for that. */
const limitOfPlace = ({ code, details }: OrreryError): 'disk' | 'memory' | null => {
  const limit = code === 'keeper_lost' ? details?.['limit'] : undefined;
  return limit === 'disk' || limit === 'memory' ? limit : null;
};

/** The end of an attempt of which something could not be brought back: never called accepted, and said plainly. */
export const endingWithLoss = (end: Ending, lost: string | null): Ending => {
  if (lost === null) return end;
  if (end.verdict === 'accepted' || end.verdict === 'rejected') return ending('interrupted', 'infrastructure', lost);
  return { ...end, reason: end.reason === null ? lost : `${end.reason} ${lost}` };
};

/** How a program that was stopped by a bound or lost ends the attempt; null when it ended by itself. */
export const endingOfRun = (end: RunEnd, what: string): Ending | null => {
  if (end.limit === 'wall')
    return ending(
      'failed',
      'timeout',
      `${what} was ended by its time limit after ${end.tookMs} ms: it ${reachedLimit('wall').text}`,
    );
  if (end.limit !== null) return ending('limit', reachedLimit(end.limit).cause, `${what} ${reachedLimit(end.limit).text}`);
  if (end.reason !== null && end.reason.startsWith('guarantee:'))
    return ending('failed', 'backend', `${what} was not started: ${end.reason}.`);
  if (end.reason !== null && end.reason.startsWith('exec:'))
    return ending('failed', 'agent', `${what} could not be started: ${notExecuted(end.reason.slice('exec:'.length))}`);
  if (end.reason !== null && end.exitCode === null)
    return ending('interrupted', 'infrastructure', `${what} was interrupted: ${end.reason}.`);
  return null;
};

/** Why a program was not executed, in words. */
export const notExecuted = (errno: string): string => {
  if (errno === 'ENOENT') return 'there is no such program in its environment (ENOENT).';
  if (errno === 'EACCES') return 'it may not be executed there (EACCES).';
  return `it could not be executed (${errno}).`;
};

/** What the node knows of a turn beside its outcome: whether a call was refused for the budget, and how the newest one failed. */
export type TurnKnowledge = { readonly budgetRefused: boolean; readonly gateway: GatewayFailure | null };

/** How a turn that did not succeed ends the attempt; null for success. */
export const endingOfTurn = (outcome: TurnOutcome, { budgetRefused, gateway }: TurnKnowledge): Ending | null => {
  const said = outcome.message ?? 'no reason given';
  if (outcome.outcome === 'success') return null;
  if (budgetRefused || outcome.outcome === 'budget') return ending('failed', 'budget', `The budget is spent: ${said}`);
  if (outcome.outcome === 'cancelled') return cancelledEnding;
  if (outcome.outcome === 'limit')
    return ending(
      'limit',
      null,
      outcome.resetsAt === null ? `Usage limit: ${said}` : `Usage limit until ${outcome.resetsAt}: ${said}`,
    );
  if (outcome.outcome === 'interrupted' || outcome.outcome === 'uncertain') return ending('interrupted', 'infrastructure', said);
  if (outcome.failure === 'auth') return ending('failed', 'auth', `The provider refused the credential: ${said}`);
  const byModel = endingOfModel(outcome.failure, { gateway, said });
  if (byModel !== null) return byModel;
  if (outcome.failure === 'timeout') return ending('failed', 'timeout', said);
  return ending('failed', 'agent', outcome.failure === null ? said : `${failureWords[outcome.failure]}: ${said}`);
};

/** Nothing else than a model that is away is meant by these, whoever reports it. */
const AWAY: ReadonlySet<TurnFailure> = new Set(['network', 'overloaded', 'rate_limit']);

/**
 * The end of an attempt whose model could not be reached, was cut, or did not answer as a model does: no fault of the
 * agent. An answer nobody can read and a silence are the model's only when the gateway saw them: the program has its own.
 */
const endingOfModel = (
  failure: TurnFailure | null,
  { gateway, said }: { readonly gateway: GatewayFailure | null; readonly said: string },
): Ending | null => {
  if (failure === null) return null;
  if (AWAY.has(failure)) return ending('failed', 'infrastructure', `${failureWords[failure]}: ${said}`);
  if (gateway?.failure !== failure) return null;
  if (failure === 'timeout') return ending('failed', 'infrastructure', `The model fell silent: ${said}`);
  return failure === 'protocol' ? ending('failed', 'infrastructure', `The model's answer could not be read: ${said}`) : null;
};

const failureWords: Readonly<Record<NonNullable<TurnOutcome['failure']>, string>> = {
  auth: 'The provider refused the credential',
  overloaded: 'The provider is overloaded',
  rate_limit: 'The provider limits the rate',
  usage_limit: 'The usage limit is reached',
  context: 'The conversation no longer fits the model',
  billing: 'The provider asks for payment',
  network: 'The connection to the model broke',
  timeout: 'The turn took too long',
  program: 'The agent program ended without a result',
  protocol: 'The answer could not be read',
  unattended: 'Nobody was there to allow what it needed',
};
