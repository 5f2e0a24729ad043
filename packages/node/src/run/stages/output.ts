import type { StageName } from '@orrery/protocol';
import { compileSchema } from '../../kernel/json-schema.ts';
import { OUTPUT_BYTES } from '../../kernel/limits.ts';
import { jsonOf, lastText } from '../answer.ts';
import { beginStage, checkGoing, endStage, passed, stageOf, type OpenAttempt } from '../attempt-context.ts';
import type { FailedCheck } from '../ending.ts';

const name: StageName = 'output';

/** What an agent is told of the answer that it shall end with; null when any will do. */
export const outputNote = (schema: Readonly<Record<string, unknown>> | undefined): string | null =>
  schema === undefined
    ? null
    : `When you are done, your last message must be one JSON value and nothing else, without a code fence, that fits this JSON Schema:\n${JSON.stringify(schema)}`;

/** Holds the last words of a turn against the schema of the task. Null: they fit, or the task has none. */
export const checkOutput = async (open: OpenAttempt, round: number): Promise<FailedCheck | null> => {
  const schema = open.intent.outputSchema;
  if (schema === undefined) return null;
  checkGoing(open);
  const done = await stageOf(open, name, round);
  const row = await beginStage(open, name, round);
  // What the turn said last may still be on its way to the store.
  await open.journal.transaction(async () => undefined);
  const answer = (await lastText(open.parts.store.read, open.task.key, round)) ?? '';
  const faults = done?.state === 'passed' ? [] : await faultsOf(answer, schema);
  if (faults.length === 0) {
    endStage(open, row, { ...passed, output: JSON.stringify(jsonOf(answer)?.value ?? null) });
    return null;
  }
  const told = faults.map((fault) => `- ${fault}`).join('\n');
  endStage(open, row, { state: 'failed', exitCode: null, note: faults[0] ?? null, output: told });
  const turns = `${round} ${round === 1 ? 'turn' : 'turns'}`;
  return {
    prompt: `Your last message is not the answer that was asked for:\n${told}\n\n${outputNote(schema) ?? ''}`,
    ending: {
      verdict: 'rejected',
      cause: null,
      reason: `The answer still does not fit the output schema after ${turns}: ${faults[0] ?? ''}.`,
    },
  };
};

const faultsOf = async (answer: string, schema: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
  if (Buffer.byteLength(answer) > OUTPUT_BYTES) return [`it is longer than ${OUTPUT_BYTES} bytes`];
  const json = jsonOf(answer);
  return json === null ? ['it is not JSON'] : (await compileSchema(schema, 'output schema'))(json.value);
};
