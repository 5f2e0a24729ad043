// How the programs themselves end a turn that failed: docs/decisions/010 says it in words, the tests of the harnesses keep it true.
import type { ScriptedModel } from '@orrery/scripted-model';
import { expect } from 'vitest';

/** The programs that are started for one turn. */
export type SpokenProgram = 'claude' | 'codex' | 'pi';

/** One JSON line of a program. */
export type Line = Readonly<Record<string, unknown>>;

/** How often a program asked its model. */
export const callsOf = (model: ScriptedModel): number => model.log().filter((call) => call.wire !== undefined).length;

/** The JSON lines among what a program printed. */
export const linesOf = (stdout: string): Line[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** What a program's own words say about the end of a turn, each in its dialect. */
export const ownWords: Readonly<Record<SpokenProgram, (lines: readonly Line[]) => object | undefined>> = {
  claude(lines) {
    const result = lines.findLast((line) => line['type'] === 'result');
    const said = lines.findLast((line) => line['type'] === 'assistant')?.['error'];
    return (
      result && {
        isError: result['is_error'],
        status: result['api_error_status'] ?? null,
        reason: result['terminal_reason'],
        said: said ?? null,
      }
    );
  },
  codex(lines) {
    const last = lines.at(-1);
    return (
      last && { type: last['type'], message: (last['error'] as { message?: string } | undefined)?.message?.slice(0, 60) ?? null }
    );
  },
  pi(lines) {
    const ended = lines.findLast((line) => line['type'] === 'message_end')?.['message'] as Line | undefined;
    return (
      ended && {
        settled: lines.at(-1)?.['type'] === 'agent_settled',
        stopReason: ended['stopReason'],
        message: ((ended['errorMessage'] ?? '') as string).slice(0, 60),
      }
    );
  },
};

const claudeFails = (status: number | null, said: string, reason = 'api_error'): object => ({
  isError: true,
  status,
  reason,
  said,
});
const codexFails = (message: unknown): object => ({ type: 'turn.failed', message });
const piFails = (message: unknown): object => ({ settled: true, stopReason: 'error', message });
const starts = (text: string): unknown => expect.stringMatching(new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));

/** How each failure ends, and how many model calls the program made for it. */
export const failedTurns: Readonly<Record<string, Readonly<Record<SpokenProgram, readonly [calls: number, end: object]>>>> = {
  rate_limit: {
    claude: [2, claudeFails(429, 'rate_limit')],
    codex: [2, codexFails('exceeded retry limit, last status: 429 Too Many Requests')],
    pi: [2, piFails(starts('429 {"type":"error","error":{"type":"rate_limit_error"'))],
  },
  // The first answer is the provider's, and programs that call again have the gateway's (decision 112).
  usage_limit: {
    claude: [1, claudeFails(402, 'unknown')],
    codex: [1, codexFails(starts('You’ve hit your usage limit.'))],
    pi: [1, piFails(starts('402 {"type":"error"'))],
  },
  overloaded: {
    claude: [2, claudeFails(529, 'server_error')],
    codex: [4, codexFails(starts('unexpected status 529 '))],
    pi: [2, piFails(starts('529 {"type":"error","error":{"type":"overloaded_error"'))],
  },
  auth: {
    claude: [4, claudeFails(401, 'authentication_failed')],
    codex: [4, codexFails(starts('unexpected status 401 Unauthorized'))],
    pi: [1, piFails(starts('401 {"type":"error","error":{"type":"authentication_error"'))],
  },
  credit: {
    claude: [1, claudeFails(400, 'billing_error')],
    codex: [1, codexFails(starts('{"error":{"message":"Your credit balance is too low'))],
    pi: [1, piFails(starts('400 {"type":"error"'))],
  },
  too_long: {
    claude: [1, claudeFails(400, 'invalid_request', 'prompt_too_long')],
    codex: [1, codexFails(starts("Codex ran out of room in the model's context window."))],
    pi: [1, piFails(starts('400 {"type":"error"'))],
  },
  'a cut': {
    claude: [3, claudeFails(null, 'server_error')],
    codex: [2, codexFails(starts('stream disconnected before completion: '))],
    pi: [2, piFails(starts('terminated: other side closed'))],
  },
  garbage: {
    claude: [2, claudeFails(null, 'unknown')],
    codex: [2, codexFails(starts('stream disconnected before completion: '))],
    pi: [2, piFails(starts('Anthropic stream ended without a stop reason'))],
  },
};
/** pi ends with 0 after a failed turn. */
export const failedExit: Readonly<Record<SpokenProgram, number>> = { claude: 1, codex: 1, pi: 0 };
