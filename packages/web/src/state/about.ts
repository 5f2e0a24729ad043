// What an event of the node makes old of what a page shows. An event that is not known makes all of it old. Pure.

import type { EventBody, OrreryEvent } from '@orrery/protocol';

/** Answers by the first word of their key; `id`: only that one of them. */
export type Old = { readonly key: string; readonly id?: string };

export const everything = 'everything';

/** Words inside a conversation are read by its own page, and a stage's output by the task's. */
const said: ReadonlySet<EventBody['kind']> = new Set([
  ...(['text', 'thinking', 'tool.call', 'tool.result', 'usage', 'user', 'notice', 'plan', 'agent', 'background'] as const),
  'stage.output',
]);

/** Pages that have no events of their own: they look again, where they are open, whenever something was done. */
const aside: readonly Old[] = ['audit', 'node', 'usage', 'salvage', 'tokens'].map((key) => ({ key }));

/** What is old since an event. */
export const oldSince = ({
  body,
  sessionId,
  taskId,
}: Pick<OrreryEvent, 'body' | 'sessionId' | 'taskId'>): readonly Old[] | typeof everything => {
  if (said.has(body.kind)) return [];
  const own =
    ofNode(body) ?? (sessionId !== undefined ? ofSession(body, sessionId) : taskId === null ? null : ofTask(body, taskId));
  return own === null ? everything : [...own, ...aside];
};

const keys = (...names: readonly string[]): readonly Old[] => names.map((key) => ({ key }));

/** What concerns neither a session's log nor a task's; null: it is of one of those, or not known. */
const ofNode = (body: EventBody): readonly Old[] | null => {
  switch (body.kind) {
    case 'project.added':
    case 'project.changed':
    case 'project.removed':
      return keys('projects', 'environments', 'agents', 'policies', 'config');
    case 'environment.changed':
    case 'environment.removed':
      return [
        ...keys('environments'),
        { key: 'environment', id: body.environmentId },
        { key: 'terminals', id: body.environmentId },
      ];
    case 'environment.pull-request':
      return [{ key: 'environment', id: body.environmentId }, ...keys('pr', 'sessions', 'environments')];
    case 'session.changed':
    case 'session.removed':
      return [{ key: 'session', id: body.sessionId }, ...keys('sessions', 'environments', 'environment', 'interactions')];
    case 'attached.changed':
      return keys('attached');
    case 'queue.paused':
    case 'queue.resumed':
      return keys('tasks');
    case 'salvage.saved':
      return [];
    default:
      return null;
  }
};

const ofSession = (body: EventBody, id: string): readonly Old[] => {
  const one = { key: 'session', id };
  switch (body.kind) {
    case 'interaction.opened':
    case 'interaction.settled':
      return [one, ...keys('interactions', 'rule', 'sessions')];
    case 'checkpoint':
      return [{ key: 'checkpoints', id }];
    case 'context':
      return [one];
    default:
      return [one, ...['turns', 'checkpoints', 'reviews'].map((key) => ({ key, id })), ...keys('sessions')];
  }
};

const ofTask = (body: EventBody, id: string): readonly Old[] => {
  const one = [{ key: 'task', id }, { key: 'attempts', id }, { key: 'tasks' }];
  const begins = body.kind === 'attempt.started' || body.kind === 'attempt.ended' || body.kind === 'terminal.opened';
  if (begins) return [...one, ...keys('environments', 'terminals')];
  return body.kind === 'task.pull-request' || body.kind === 'task.ended' ? [...one, ...keys('pr')] : one;
};

/** Whether an answer is of what is old: by its key, or since it holds that very thing under a name. */
export const isOld = (old: readonly Old[], query: { readonly queryKey: readonly unknown[]; readonly data: unknown }): boolean =>
  old.some(
    ({ key, id }) => query.queryKey[0] === key && (id === undefined || query.queryKey.includes(id) || idOf(query.data) === id),
  );

const idOf = (data: unknown): unknown => (typeof data === 'object' && data !== null && 'id' in data ? data.id : null);
