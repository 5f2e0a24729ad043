import { tasksText } from '../task/list.ts';
import type { Command } from '../command.ts';

/** `orrery queue list`: what runs, then what waits, oldest of the highest priority first. */
export const queueList: Command = async (context) => {
  const { client, node } = await context.connect();
  const of = async (state: 'running' | 'waiting' | 'queued') =>
    (await client.call('taskList', { query: { state, limit: 200 } })).items;
  const [running, waiting, queued] = await Promise.all([of('running'), of('waiting'), of('queued')]);
  const inOrder = queued.toSorted((left, right) => right.priority - left.priority || (left.createdAt < right.createdAt ? -1 : 1));
  const items = [...running, ...waiting, ...inOrder];
  const paused = node.queuePaused ? `${context.screen.careful('!')} The queue is paused: nothing new starts.\n` : '';
  const text =
    items.length === 0
      ? 'Nothing runs and nothing waits. Give a task: orrery run "fix the failing test"'
      : tasksText(context.screen, items, context.world.now());
  return {
    result: { paused: node.queuePaused, items },
    text: paused + text,
    hints: node.queuePaused ? ['  orrery queue resume'] : [],
  };
};
