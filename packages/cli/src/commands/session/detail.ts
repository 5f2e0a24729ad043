import type { AnswerOf } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inert } from '../../inert.ts';
import type { Command } from '../command.ts';

/** Bytes that are read at once. */
const PART = 262_144;

/** `orrery session detail`: the text on standard output as it comes; with `--jsonl` its parts, with `--json` all of them. */
export const sessionDetail: Command = async (context) => {
  const { input, mode } = context;
  const { client } = await context.connect();
  const params = { id: input.argument('session') ?? '', locator: input.argument('locator') ?? '' };
  const parts: { readonly offset: number; readonly text: string }[] = [];
  let rest = '';
  for (let offset: number | null = input.number('offset') ?? 0; offset !== null;) {
    const page: AnswerOf<'sessionDetail'> = await client.call('sessionDetail', { params, query: { offset, limit: PART } });
    if (page.state === 'missing')
      throw new OrreryError('not_found', 'This session keeps no such text.', {
        rule: 'An event names the text that it is too small for; another session has its own.',
        fix: `orrery session log ${params.id} --json`,
      });
    const part = { offset: page.offset, text: page.text };
    if (mode === 'json') parts.push(part);
    else if (mode === 'jsonl') context.data({ text: null, json: part });
    else {
      // Whole lines come out; what is cut in two is told with the next part.
      const lines = (rest + page.text).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) context.data({ text: inert(lines.join('\n')), json: null });
    }
    offset = page.nextOffset;
  }
  return { result: { ...params, parts }, text: inert(rest) };
};
