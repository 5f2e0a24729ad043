// Prompts of the editor that are not over. Each is answered once: when its turn is over and everything that was said in it
// has been told, or with the reason why it will not be sent.
import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { OrreryEvent, SessionView, TurnView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { heldUp } from '../session/held-up.ts';

type Ending = Extract<OrreryEvent['body'], { kind: 'turn.ended' }>;

type Waiting = {
  readonly resolve: (answer: PromptResponse) => void;
  readonly reject: (error: OrreryError) => void;
  /** Sequence that must have been told first, once the turn is over. */
  after: { readonly session: SessionView; readonly turn: TurnView } | null;
};

/** Endings of turns that are remembered, for the prompts that waited for them. */
const ENDINGS = 16;

export type WaitingPrompts = {
  /** Waits for a turn to be over. */
  add(turn: string): Promise<PromptResponse>;
  /** Turns that wait. */
  ids(): readonly string[];
  /** What the log said of an ending, for the reason of a failure. */
  ended(turn: number | null, body: Ending): void;
  /** Takes in how turns stand now, in a session whose log has come to `session.sequence`. */
  stand(turns: readonly TurnView[], session: SessionView): void;
  /** Everything up to that sequence was told. */
  told(sequence: number): void;
  fail(error: OrreryError): void;
};

const isOver = ({ state }: TurnView): boolean => state === 'ended' || state === 'removed' || state === 'uncertain';

export const createWaitingPrompts = (): WaitingPrompts => {
  const prompts = new Map<string, Waiting>();
  const endings = new Map<number, Ending>();
  let toldTo = 0;
  const settle = (): void => {
    for (const [id, { after, resolve, reject }] of prompts) {
      if (after === null || after.session.sequence > toldTo) continue;
      prompts.delete(id);
      const answer = answerOf(after.turn, after.session, endings.get(after.turn.turn ?? -1) ?? null);
      if (answer instanceof OrreryError) reject(answer);
      else resolve(answer);
    }
  };
  return {
    add: (turn) => new Promise((resolve, reject) => prompts.set(turn, { resolve, reject, after: null })),
    ids: () => [...prompts.keys()],
    ended: (turn, body) => {
      if (turn === null) return;
      endings.set(turn, body);
      for (const [oldest] of endings) if (endings.size > ENDINGS) endings.delete(oldest);
    },
    stand: (turns, session) => {
      for (const [id, waiting] of prompts) {
        const turn = turns.find((one) => one.id === id);
        if (turn !== undefined && isOver(turn)) waiting.after ??= { session, turn };
        const held = heldUp(session, turns, id);
        if (held === null) continue;
        prompts.delete(id);
        waiting.reject(held.failure.error);
      }
      settle();
    },
    told: (sequence) => {
      toldTo = Math.max(toldTo, sequence);
      settle();
    },
    fail: (error) => {
      for (const { reject } of prompts.values()) reject(error);
      prompts.clear();
    },
  };
};

/** How a turn that is over answers its prompt. */
const answerOf = (turn: TurnView, { name }: SessionView, ending: Ending | null): PromptResponse | OrreryError => {
  const meta = { _meta: { orrery: { input: turn.id, turn: turn.turn, outcome: turn.outcome } } };
  if (turn.state === 'removed' || turn.outcome === 'cancelled') return { stopReason: 'cancelled', ...meta };
  if (turn.outcome === 'success') return { stopReason: 'end_turn', ...meta };
  if (ending?.failure === 'context') return { stopReason: 'max_tokens', ...meta };
  const reason = inertLine(turn.reason ?? ending?.message ?? '');
  if (turn.state === 'uncertain')
    return new OrreryError('outcome_unknown', reason === '' ? 'Nobody knows whether the agent got it.' : reason, {
      rule: 'Nothing is sent twice without your word.',
      fix: `orrery session decide ${name} ${turn.id} retry`,
    });
  const limited = turn.outcome === 'limit' || turn.outcome === 'budget';
  const until = ending?.resetsAt == null ? '' : ` It ends at ${ending.resetsAt}.`;
  return new OrreryError(
    limited ? 'limit_reached' : 'agent_failed',
    `The turn ended: ${turn.outcome ?? turn.state}. ${reason}`.trim(),
    {
      rule: limited ? `A limit ends the turn; nothing is repeated by itself.${until}` : 'What was done and said before stays.',
      fix: `orrery session log ${name}`,
    },
  );
};
