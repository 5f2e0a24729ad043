// The questions of a session that are put to this editor now. The node's list is the truth; an answer counts for the very
// revision that was shown, and one that somebody else gave takes the question back.
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { InteractionAsk, OrreryEvent } from '@orrery/protocol';
import { toOrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { answerTo } from '../session/interactions.ts';
import type { Link } from '../../patient-link.ts';
import { askEditor, wantsWords, type Answer, type Asking } from './permission.ts';
import { said } from './updates.ts';

type Asked = { readonly id: string; readonly revision: number; readonly ask: InteractionAsk };
type Settled = Extract<OrreryEvent['body'], { kind: 'interaction.settled' }>;

export type Questions = {
  /** Reads what is open, and puts what was not put yet. */
  look(): Promise<void>;
  /** The editor stops its prompts: what it leaves unanswered needs no words. */
  cancelling(): void;
  settled(body: Settled): Promise<void>;
  /** Takes back everything; it stays open for others. */
  close(): void;
};

export type QuestionParts = {
  readonly link: Link;
  readonly asking: Omit<Asking, 'signal'>;
  readonly openCall: (tool: string | null) => string | null;
  readonly tell: (update: SessionUpdate) => Promise<void>;
  readonly signal: AbortSignal;
};

/** A question that the editor shows. */
type Put = { readonly revision: number; readonly stop: AbortController; answered: boolean; hushed: boolean };

export const createQuestions = (parts: QuestionParts): Questions => {
  const put = new Map<string, Put>();
  const takeBack = (id: string): boolean => {
    const known = put.get(id);
    put.delete(id);
    known?.stop.abort();
    return known !== undefined && !known.answered;
  };
  const opened = (asked: Asked): void => {
    const known = put.get(asked.id);
    if (parts.signal.aborted || (known !== undefined && known.revision >= asked.revision)) return;
    takeBack(asked.id);
    const mine: Put = { revision: asked.revision, stop: new AbortController(), answered: false, hushed: false };
    put.set(asked.id, mine);
    void ask(parts, asked, mine)
      .finally(() => (put.get(asked.id) === mine ? put.delete(asked.id) : undefined))
      .catch(() => undefined);
  };
  return {
    look: async () => {
      const { items } = await parts.link.call('interactionList', { query: { session: parts.asking.sessionId } });
      for (const { id, revision, ask: about } of items) opened({ id, revision, ask: about });
    },
    cancelling: () => {
      for (const mine of put.values()) mine.hushed = true;
    },
    settled: async ({ interactionId, outcome, by }) => {
      if (!takeBack(interactionId)) return;
      const who = by === null ? '' : ` by ${inertLine(by)}`;
      await parts.tell(said('agent_thought_chunk', `Settled elsewhere: ${outcome}${who}.\n`));
    },
    close: () => {
      for (const id of put.keys()) takeBack(id);
    },
  };
};

const ask = async (parts: QuestionParts, asked: Asked, mine: Put): Promise<void> => {
  const { signal } = mine.stop;
  if (wantsWords(asked.ask) && !parts.asking.forms)
    return parts.tell(
      said('agent_message_chunk', `\n\n${inertLine(asked.ask.title)}\n\nIt waits: \`orrery session answer ${asked.id}\`\n\n`),
    );
  const toolCallId = parts.openCall(asked.ask.tool) ?? asked.id;
  let answer: Answer;
  try {
    answer = await askEditor({ ...parts.asking, signal }, { id: asked.id, ask: asked.ask, toolCallId });
  } catch {
    answer = null;
  }
  if (signal.aborted || parts.signal.aborted) return;
  if (answer === null) return mine.hushed ? undefined : stays(parts, asked);
  mine.answered = true;
  try {
    await parts.link.call('interactionAnswer', { params: { id: asked.id }, body: { revision: asked.revision, ...answer } });
  } catch (thrown) {
    const error = toOrreryError(thrown);
    // It may be this very answer that settled it, when the node was away while it answered.
    await parts.tell(said('agent_message_chunk', `\n\nThe answer did not count: ${inertLine(error.message)}\n\n`));
  }
};

/** No answer is no: the action does not happen, and others may still answer. */
const stays = (parts: QuestionParts, { id, ask }: Asked): Promise<void> => {
  const { title } = ask;
  return parts.tell(
    said(
      'agent_message_chunk',
      `\n\nNot answered: ${inertLine(title)}. It does not happen until it is: \`orrery session answer ${id} ${answerTo({ ask })}\`\n\n`,
    ),
  );
};
