import type { EventBody, OrreryEvent } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { everything, isOld, oldSince } from './about.ts';

type Of = Partial<Pick<OrreryEvent, 'sessionId' | 'taskId'>>;
/** Which of these answers an event makes old. */
const old = (body: EventBody, of: Of, answers: readonly (readonly unknown[])[]) => {
  const since = oldSince({ taskId: null, ...of, body });
  return since === everything ? everything : answers.filter((queryKey) => isOld(since, { queryKey, data: undefined }));
};

const answers = [
  ['sessions'],
  ['session', 'ses_1'],
  ['session', 'ses_2'],
  ['interactions'],
  ['turns', 'ses_1'],
  ['turns', 'ses_2'],
  ['tasks'],
  ['tasks', 'waiting'],
  ['task', 'tsk_1'],
  ['attempts', 'tsk_2'],
  ['environments'],
  ['environment', 'env_1', 'setup-log'],
  ['backends'],
];

it('words of a conversation make nothing old', () => {
  expect(old({ kind: 'text', row: 'a', text: 'x' }, { sessionId: 'ses_1' }, answers)).toEqual([]);
});

it('what happens in one session leaves tasks and other sessions alone', () => {
  expect(old({ kind: 'queue.changed', waiting: 1 }, { sessionId: 'ses_1' }, answers)).toEqual([
    ['sessions'],
    ['session', 'ses_1'],
    ['turns', 'ses_1'],
  ]);
  expect(old({ kind: 'session.changed', sessionId: 'ses_2', state: 'idle' }, {}, answers)).toEqual([
    ['sessions'],
    ['session', 'ses_2'],
    ['interactions'],
    ['environments'],
    ['environment', 'env_1', 'setup-log'],
  ]);
});

it('a step of a task concerns that task and the lists of tasks', () => {
  const stage = { attempt: 1, stage: 'init', round: 1 } as const;
  expect(old({ kind: 'stage.started', ...stage }, { taskId: 'tsk_1' }, answers)).toEqual([
    ['tasks'],
    ['tasks', 'waiting'],
    ['task', 'tsk_1'],
  ]);
});

it('an environment that changed concerns itself and the list', () => {
  const body = { kind: 'environment.changed', environmentId: 'env_1', state: 'ready', operation: null, reason: null } as const;
  expect(old(body, {}, answers)).toEqual([['environments'], ['environment', 'env_1', 'setup-log']]);
});

it('an answer that was asked for by a name is found by its id', () => {
  const since = oldSince({ taskId: null, sessionId: 'ses_1', body: { kind: 'queue.changed', waiting: 0 } });
  if (since === everything) throw new Error('it is known');
  expect(isOld(since, { queryKey: ['session', 'mine'], data: { id: 'ses_1' } })).toBe(true);
  expect(isOld(since, { queryKey: ['session', 'other'], data: { id: 'ses_2' } })).toBe(false);
});

it('what is not known, and a start of the node, make everything old', () => {
  expect(old({ kind: 'node.started', version: '1' }, {}, answers)).toBe(everything);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event of a newer node
  expect(old({ kind: 'mission.begun' } as unknown as EventBody, {}, answers)).toBe(everything);
});
