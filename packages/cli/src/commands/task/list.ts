import type { Task, TaskState } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { projectOf } from '../../names.ts';
import { fit, tableText, type Screen } from '../../screen.ts';
import { stateText } from '../../verdict-text.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** A table of tasks: what `task list` and `queue list` show. */
export const tasksText = (screen: Screen, tasks: readonly Task[], nowMs: number): string =>
  tableText(
    screen,
    ['  state', 'task', 'project', 'created', 'prompt'],
    tasks.map((task) => [
      stateText(screen, task.state),
      task.id,
      task.project === null ? '-' : fit(inertLine(task.project.name), 24),
      agoText(task.createdAt, nowMs),
      lastColumn(task),
    ]),
  );

/** What it waits for, when that is known; and its prompt, which one with a full screen need not have. */
const lastColumn = ({ state, waitingFor, prompt, interactive }: Task): string => {
  const asked = prompt === '' && interactive ? '(full screen)' : inertLine(prompt);
  return state === 'waiting' && waitingFor !== null ? `waits for ${inertLine(waitingFor)}: ${asked}` : asked;
};

/** `orrery task list`. */
export const taskList: Command = async (context) => {
  const { input, screen, world } = context;
  const connection = await context.connect();
  const state = input.text('state') as TaskState | null;
  const named = input.text('project');
  const project = named === null ? undefined : (await projectOf(connection, named, world.cwd)).id;
  const page = await connection.client.call('taskList', {
    query: {
      limit: input.number('limit') ?? 20,
      project,
      series: input.text('series') ?? undefined,
      ...(state === null ? {} : { state }),
    },
  });
  if (page.items.length === 0) {
    const which =
      state === null && project === undefined && input.text('series') === null
        ? 'There is no task yet.'
        : 'No task is like that.';
    return { result: page, text: `${which} Give one to an agent: orrery run "fix the failing test"` };
  }
  return {
    result: page,
    text: tasksText(screen, page.items, world.now()),
    hints: page.nextCursor === null ? [] : ['  There are older ones: --limit N'],
  };
};
