// A task with a full screen, seen by a person: until its program ends, or the person leaves it running.

import type { OrreryEvent, Task } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { createTimeline } from '../../timeline.ts';
import { failureOfTask, stopWatching, watchTask } from '../../watch.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { runSession, type SessionOptions } from '../env/terminal-session.ts';
import { watchRun, type RunWishes } from './watch-run.ts';

/** How often it is looked whether a screen that was announced is there. */
const LOOK_MS = 250;

/** Refuses where no person is at a terminal. */
export const requireTerminal = ({ world }: CommandContext): void => {
  if (world.stdin.isTTY && world.stdout.isTTY) return;
  throw new OrreryError('invalid_input', 'A full screen needs a terminal, and there is none.', {
    rule: 'Without one, the agent is given a task and watched.',
    fix: 'orrery run "fix the failing test"',
  });
};

type Opened = Extract<OrreryEvent['body'], { kind: 'terminal.opened' }> & { readonly sequence: number };

/** Shows the screen of a task, once it is there, and then its verdict. */
export const attachRun = async (
  context: CommandContext,
  connection: Connection,
  given: Pick<SessionOptions, 'mode' | 'clipboard'> & { readonly task: Task; readonly wishes: RunWishes },
): Promise<Outcome> => {
  const { task, mode, clipboard = false, wishes } = given;
  const timeline = createTimeline(context.side);
  let opened: Opened | null = null;
  const watched = await watchTask(context, connection, {
    id: task.id,
    throughWaits: true,
    onEvent: (event) => {
      if (context.mode === 'human') for (const line of timeline.lines(event)) context.note(line);
    },
    until: async (event) => {
      opened = await screenOf(context, connection, { event, task });
      return opened !== null;
    },
  });
  const there = opened as Opened | null;
  if (watched.stopped !== null) return stopWatching(context, connection, watched);
  if (there === null) return { result: { task: watched.task }, failure: failureOfTask(watched.task) };
  const { environmentId, terminal, sequence } = there;
  context.note('  Ctrl-] leaves it running.');
  const end = await runSession(context, connection, { environment: environmentId, terminal, tty: true, mode, clipboard });
  if (end.kind === 'detached')
    return {
      result: { task: await connection.client.call('taskShow', { params: { id: task.id } }), environmentId, terminal },
      hints: ['', `  It goes on. Come back: orrery task attach ${task.id}`],
    };
  return watchRun(context, connection, { task, wishes: { ...wishes, after: sequence } });
};

/** The screen that an event announces; null when it announces none, or one that is over. */
const screenOf = async (
  { world }: CommandContext,
  { client }: Connection,
  { event, task }: { readonly event: OrreryEvent; readonly task: Task },
): Promise<Opened | null> => {
  const { body, sequence } = event;
  if (body.kind !== 'terminal.opened') return null;
  for (;;) {
    const attempt = (await client.call('taskAttempts', { params: { id: task.id } })).items.at(-1);
    const runs = attempt?.stages.some(({ name, state }) => name === 'drive' && state === 'running') === true;
    if (attempt?.number !== body.attempt || !runs) return null;
    // It is announced before it begins.
    const there = await client.call('terminalList', { params: { id: body.environmentId } }).catch(() => null);
    if (there?.items.some(({ id }) => id === body.terminal) === true) return { ...body, sequence: sequence ?? 0 };
    await world.sleep(LOOK_MS);
  }
};
