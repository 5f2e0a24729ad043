// The log of a task as rows of a transcript. Pure.

import type { EventBody, OrreryEvent } from '@orrery/protocol';
import type { Row } from '../state/transcript.ts';

/** Characters of a script's output that are kept of one stage: its end says how it went. */
const KEPT_CHARS = 65_536;

type OfStage = { readonly attempt: number; readonly stage: string; readonly round: number };
const stageKey = ({ attempt, stage, round }: OfStage): string => `stage:${attempt}:${stage}:${round}`;

/** What the page says elsewhere, or what says nothing to a person. */
const isPassedOver = (body: EventBody): boolean =>
  body.kind === 'task.created' || body.kind === 'task.ended' || (body.kind === 'task.state' && body.state !== 'waiting');

/** What the stages said in one row each, and each stage once: as it ended, or as it goes on. */
export const taskRows = (rows: readonly Row[]): readonly Row[] => {
  const ended = new Set(rows.flatMap(({ event: { body } }) => (body.kind === 'stage.ended' ? [stageKey(body)] : [])));
  const shown: Row[] = [];
  const outputs = new Map<string, number>();
  for (const row of rows) {
    const { body } = row.event;
    if (isPassedOver(body) || (body.kind === 'stage.started' && ended.has(stageKey(body)))) continue;
    if (body.kind !== 'stage.output') {
      shown.push(row);
      continue;
    }
    const key = `output:${stageKey(body)}`;
    const place = outputs.get(key);
    const before = place === undefined ? '' : outputOf(shown[place]?.event);
    const merged = { key, event: asOutput(row.event, { key, text: `${before}${body.text}`.slice(-KEPT_CHARS) }) };
    if (place === undefined) outputs.set(key, shown.push(merged) - 1);
    else shown[place] = merged;
  }
  return shown;
};

const outputOf = (event: OrreryEvent | undefined): string => (event?.body.kind === 'tool.result' ? event.body.output : '');

const asOutput = (event: OrreryEvent, { key, text }: { readonly key: string; readonly text: string }): OrreryEvent => ({
  ...event,
  body: { kind: 'tool.result', row: key, tool: null, output: text, outputBytes: text.length, failed: false },
});
