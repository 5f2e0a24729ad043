import type { OrreryEvent, Task } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { CommandContext, Outcome } from './commands/command.ts';
import type { Connection } from './connect.ts';
import { endOfTask } from './exit.ts';
import { inertLine } from './inert.ts';

/** How watching ended: the task as it is now, and the signal that stopped it. */
export type Watched = { readonly task: Task; readonly stopped: 'SIGINT' | 'SIGTERM' | null };

export type Watching = {
  readonly id: string;
  readonly after?: number;
  readonly onEvent: (event: OrreryEvent) => Promise<void> | void;
  readonly onConnection?: (lost: OrreryError | null) => void;
  readonly deadlineMs?: number;
  /** A wait for a person does not end it: the person is here. */
  readonly throughWaits?: boolean;
  /** Ends it after an event. */
  readonly until?: (event: OrreryEvent) => Promise<boolean>;
};

/** Whether a task may be over, or wait for a person, after an event. */
const turns = ({ body }: OrreryEvent): boolean =>
  body.kind === 'task.ended' || (body.kind === 'task.state' && body.state !== 'queued' && body.state !== 'running');

/** Events that are kept after a sequence. */
const LOG_PAGE = 1000;

/**
 * Follows a task until it is over or waits for a person, or until Ctrl-C. What it sees at the end is read anew: an older
 * end in the log of a task that was retried ends nothing. Throws `deadline` when that passes first.
 */
export const watchTask = async ({ world }: CommandContext, { client }: Connection, watching: Watching): Promise<Watched> => {
  const stop = new AbortController();
  let stopped: Watched['stopped'] = null;
  let late = false;
  const release = world.onStop((signal) => {
    stopped = signal;
    stop.abort();
  });
  const timer =
    watching.deadlineMs === undefined
      ? undefined
      : setTimeout(() => {
          late = true;
          stop.abort();
        }, watching.deadlineMs);
  try {
    for await (const event of client.taskEvents(watching.id, {
      after: watching.after ?? 0,
      signal: stop.signal,
      onConnection: watching.onConnection,
    })) {
      await watching.onEvent(event);
      const found = (await watching.until?.(event)) === true;
      if (!found && !turns(event)) continue;
      const task = await client.call('taskShow', { params: { id: watching.id } });
      if (found) return { task, stopped: null };
      if (endOfTask(task) === null || (watching.throughWaits === true && task.state === 'waiting')) continue;
      await showRest(client, watching, event.sequence ?? 0);
      return { task, stopped: null };
    }
  } finally {
    release();
    clearTimeout(timer);
  }
  if (late)
    throw new OrreryError('deadline', 'The task is not over yet.', {
      rule: 'Waiting ended at its --timeout; the task goes on.',
      fix: `orrery task wait ${watching.id}`,
    });
  return { task: await client.call('taskShow', { params: { id: watching.id } }), stopped };
};

/** What follows the event at which the task was seen to be over. */
const showRest = async (client: Connection['client'], { id, onEvent }: Watching, from: number): Promise<void> => {
  for (let after = from; ;) {
    const { items } = await client.call('taskLog', { params: { id }, query: { after, limit: LOG_PAGE } });
    for (const event of items) await onEvent(event);
    const last = items.at(-1)?.sequence;
    if (items.length < LOG_PAGE || last === undefined || last === null) return;
    after = last;
  }
};

/** Time in which a second Ctrl-C cancels. */
const SECOND_CHANCE_MS = 2000;

/** After Ctrl-C: says that the task goes on and how to come back; a second Ctrl-C cancels it. Ends with 130, or 143. */
export const stopWatching = async (
  context: CommandContext,
  { client }: Connection,
  { task, stopped }: Watched,
): Promise<Outcome> => {
  const back = `orrery task log ${task.id} --follow`;
  context.note('  Stopped watching; the task goes on. Come back with:');
  context.note(`  ${back}`);
  let cancelled = false;
  if (stopped === 'SIGINT') {
    context.note('  Ctrl-C again now cancels the task.');
    cancelled = await secondInterrupt(context);
  }
  if (cancelled) {
    context.note(`  Cancelling ${task.id} and every process of it.`);
    await client.call('taskCancel', { params: { id: task.id }, body: {} });
  }
  const error = new OrreryError(
    'stopped_watching',
    cancelled ? 'Stopped watching; the task is being cancelled.' : 'Stopped watching; the task goes on.',
    { rule: 'Watching a task does not keep it alive.', fix: back, details: { task: task.id, cancelled } },
  );
  return { result: null, failure: { error, exit: stopped === 'SIGTERM' ? 143 : 130 } };
};

const secondInterrupt = async ({ world }: CommandContext): Promise<boolean> => {
  let release: () => void = () => undefined;
  const again = new Promise<boolean>((resolve) => {
    release = world.onStop(() => resolve(true));
  });
  const answer = await Promise.race([again, world.sleep(SECOND_CHANCE_MS).then(() => false)]);
  release();
  return answer;
};

/** The failure with which a task that is over ends a command; undefined when it was accepted. */
export const failureOfTask = (task: Task): Outcome['failure'] => {
  const end = endOfTask(task);
  if (end === null || end.code === null) return undefined;
  const said = task.reason === null ? '' : ` ${inertLine(task.reason)}`;
  const message =
    end.exit === 6
      ? `The task waits for a person: ${inertLine(task.waitingFor ?? '')}`
      : `The task ended as ${task.state}${task.cause === null ? '' : ` (${task.cause})`}.${said}`;
  return { error: new OrreryError(end.code, message, { fix: `orrery task log ${task.id}`, details: { task } }), exit: end.exit };
};
