import type { EventBody, OrreryEvent } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { taskRows } from './task-rows.ts';

const row = (body: EventBody, sequence: number) => {
  const event: OrreryEvent = { seq: sequence, at: '', taskId: 'tsk_1', sequence, turn: null, body };
  return { key: `#${sequence}`, event };
};
const init = { attempt: 1, stage: 'init', round: 1 } as const;
const said = (text: string): EventBody => ({ kind: 'stage.output', ...init, stream: 'stdout', text });

it('puts what a stage said into one row, and each stage stands there once', () => {
  const bodies: EventBody[] = [
    { kind: 'task.created' },
    { kind: 'task.state', state: 'running', waitingFor: null },
    { kind: 'stage.started', ...init },
    said('one\n'),
    said('two\n'),
    { kind: 'stage.ended', ...init, state: 'passed', exitCode: 0, note: null, tookMs: 1 },
    { kind: 'stage.started', ...init, stage: 'drive' },
  ];
  const rows = taskRows(bodies.map(row)).map(({ event: { body } }) =>
    body.kind === 'tool.result' ? body.output : `${body.kind} ${'stage' in body ? body.stage : ''}`,
  );
  expect(rows).toEqual(['one\ntwo\n', 'stage.ended init', 'stage.started drive']);
});
