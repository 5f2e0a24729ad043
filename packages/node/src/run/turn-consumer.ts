import type { ConversationBody } from '@orrery/protocol';
import type { GatewayFailure, Harness, TranslatorState, TurnLaunch, TurnOutcome } from '../harness/harness.ts';
import { STDERR_TAIL_BYTES } from '../kernel/limits.ts';
import type { Consumer, ConsumerStart } from './program.ts';

type TurnState = { readonly translator: TranslatorState; readonly stderrTail: string };

/** What is stored of a turn before its program may act. */
export const turnBegins = ({ begins }: Pick<TurnLaunch, 'begins'>): TurnState | null =>
  begins === undefined ? null : { translator: begins, stderrTail: '' };

/** What the node knows beside the program's own words. */
export type NodeKnowledge = { cancelled(): boolean; gatewayFailure(): GatewayFailure | null };

/** Translates a turn's stdout by its harness; stderr is only kept as a tail that explains failures. */
export const turnConsumer = (harness: Harness, from: ConsumerStart, knows: NodeKnowledge): Consumer<TurnOutcome> => {
  const before = from.state as TurnState | null;
  const translator = harness.translator({ offset: from.stdout, state: before?.translator ?? {} });
  let translated: TranslatorState = before?.translator ?? {};
  let stderrTail = before?.stderrTail ?? '';
  let stderrOffset = from.stderr;
  const decoder = new TextDecoder();
  return {
    ...(translator.speech === undefined ? {} : { speech: translator.speech }),
    push: (stream, bytes) => {
      if (stream === 'stderr') {
        stderrOffset += bytes.length;
        stderrTail = (stderrTail + decoder.decode(bytes, { stream: true })).slice(-STDERR_TAIL_BYTES);
        return { bodies: [], offset: stderrOffset, conversation: null, accepted: false, settled: false };
      }
      const taken = translator.push(bytes);
      translated = taken.state;
      return {
        bodies: taken.events,
        offset: taken.offset,
        conversation: taken.conversation,
        accepted: taken.accepted,
        settled: taken.settled,
      };
    },
    state: (): TurnState => ({ translator: translated, stderrTail }),
    end: (end) => {
      const last = translator.end({
        exitCode: end.exitCode,
        signal: end.signal,
        stderrTail,
        stoppedFor: end.limit === 'wall' ? 'timeout' : knows.cancelled() ? 'cancel' : null,
        gateway: knows.gatewayFailure(),
      });
      const bodies: ConversationBody[] = [...last.events];
      if (!bodies.some((body) => body.kind === 'turn.ended')) bodies.push(last.outcome);
      return { bodies, outcome: last.outcome };
    },
  };
};
