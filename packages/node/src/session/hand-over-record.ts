// What a program is given of a conversation that it did not hold: a bounded record out of the log, the same for the same
// log. No model is asked. What was undone is not in it.

import { isUndone, undoneRanges, type OrreryEvent } from '@orrery/protocol';
import { hideSecretShapes } from '../kernel/secret-shapes.ts';
import type { Store } from '../store/store.ts';
import type { SessionRow } from './model.ts';
import { newestEvents } from './store.ts';
import {
  HAND_OVER_CHARS,
  HAND_OVER_PART_CHARS,
  HAND_OVER_INPUTS,
  HAND_OVER_ANSWERS,
  HAND_OVER_FILES,
  HAND_OVER_EVENTS,
} from './limits.ts';

/** Why there is a record. */
export type RecordReason = 'rewound' | 'forked' | 'handed-over';

/** What it is made of. */
export type RecordParts = {
  readonly session: Pick<SessionRow, 'id' | 'name' | 'harness' | 'model'>;
  /** Rows that stand, oldest first. */
  readonly events: readonly Pick<OrreryEvent, 'sequence' | 'at' | 'turn' | 'body'>[];
  /** Changed files, `status path`. */
  readonly files: readonly string[];
  readonly why: RecordReason;
};

const clip = (text: string, chars = HAND_OVER_PART_CHARS): string =>
  text.length <= chars ? text : `${text.slice(0, chars)}\n… ${text.length - chars} characters more`;

/** Tools in which programs keep their plan. */
const planTools = new Set(['TodoWrite', 'update_plan', 'todo_write']);

const planOf = (events: RecordParts['events']): string | null => {
  const last = events.findLast(
    ({ body }) =>
      (body.kind === 'tool.call' && planTools.has(body.tool)) || (body.kind === 'interaction.opened' && body.ask.kind === 'plan'),
  )?.body;
  if (last?.kind === 'tool.call') return last.input;
  return last?.kind === 'interaction.opened' ? last.ask.detail : null;
};

/** The newest revision of each text, in the order in which they began. */
const answersOf = (events: RecordParts['events']): string[] => {
  const rows = new Map<string, string>();
  for (const { body } of events) if (body.kind === 'text') rows.set(body.row, body.text);
  return [...rows.values()];
};

const section = (title: string, parts: readonly string[]): string[] =>
  parts.length === 0 ? [] : [`## ${title}\n\n${parts.join('\n\n')}`];

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const goesOn: Readonly<Record<RecordReason, string>> = {
  rewound: 'The conversation was taken back to that point, and goes on with you from there.',
  forked: 'It parted there: another one goes on with you from that point, in a copy of the files as they were.',
  'handed-over': 'It was handed over to you: you go on in the same files.',
};

/** The record as the next program reads it. Pure. */
export const writeRecord = ({ session, events, files, why }: RecordParts): string => {
  const inputs = events.flatMap(({ body }) => (body.kind === 'user' ? [body.text] : []));
  const [goal, ...since] = inputs;
  const ended = events.findLast(({ body }) => body.kind === 'turn.ended')?.body;
  const openEnds = [
    ...(ended?.kind === 'turn.ended' && ended.outcome !== 'success'
      ? [`The last turn ended: ${ended.outcome}. ${ended.message ?? ''}`.trim()]
      : []),
  ];
  const plan = planOf(events);
  const from = `${session.harness}${session.model === null ? '' : ` (${session.model})`} in the session ${session.name} (${session.id})`;
  const until = events.at(-1);
  const text = [
    `This is a record of a conversation with ${from}, up to event ${until?.sequence ?? 0} of its log${until === undefined ? '' : ` (${until.at})`}. ${goesOn[why]} The record tells what was said and done; what comes after it is what you are asked now.`,
    ...section('Goal', goal === undefined ? [] : [clip(goal)]),
    ...section(
      'Asked since',
      since.slice(-HAND_OVER_INPUTS).map((one) => `> ${clip(one, 2_000).replaceAll('\n', '\n> ')}`),
    ),
    ...section(
      'Last answers',
      answersOf(events)
        .slice(-HAND_OVER_ANSWERS)
        .map((one) => clip(one)),
    ),
    ...section('Plan', plan === null ? [] : [clip(plan)]),
    ...section('Changed files', files.length === 0 ? [] : [list(files)]),
    ...section('Open ends', openEnds.length === 0 ? [] : [list(openEnds)]),
    '(End of the record.)',
  ].join('\n\n');
  return clip(hideSecretShapes(text), HAND_OVER_CHARS);
};

/** The record of a session up to an event of its log. `files`: what is changed, where that is known. */
export const handOverRecord = async (
  store: Store,
  session: SessionRow,
  given: { readonly until: number; readonly why: RecordReason; readonly files?: readonly string[] },
): Promise<string> => {
  const { until, why, files = [] } = given;
  const events = await newestEvents(store.read, session.key, { until, limit: HAND_OVER_EVENTS });
  const ranges = undoneRanges(
    events.flatMap(({ sequence, body }) =>
      body.kind === 'rewound' && body.conversation && sequence !== null ? [{ sequence, after: body.after }] : [],
    ),
  );
  return writeRecord({
    session,
    events: events.filter(({ sequence }) => sequence === null || !isUndone(ranges, sequence)),
    files: files.slice(0, HAND_OVER_FILES),
    why,
  });
};
