import { inertLine } from '../../inert.ts';
import { factsText } from '../../screen.ts';
import { agoText, bytesText } from '../../wording.ts';
import { tasksText } from '../task/list.ts';
import type { Command } from '../command.ts';

/** `orrery status`. */
export const status: Command = async (context) => {
  const { screen, world } = context;
  const { client, node } = await context.connect();
  const [running, waiting] = await Promise.all([
    client.call('taskList', { query: { state: 'running', limit: 20 } }),
    client.call('taskList', { query: { state: 'waiting', limit: 20 } }),
  ]);
  const { tasks } = node;
  const mark = node.state === 'serving' && !node.queuePaused ? screen.good('✓') : screen.careful('!');
  const facts = factsText(screen, [
    ['node', `${inertLine(node.name)}  ${node.url}`],
    ['version', node.version],
    ['since', `${agoText(node.startedAt, world.now())} (process ${node.pid}, ${bytesText(node.memoryBytes)})`],
    ['data', node.dataDirectory],
    ['runs with', `${node.defaultHarness} on ${node.defaultBackend}`],
    ['tasks', `${tasks.running} running, ${tasks.queued} queued, ${tasks.waiting} waiting`],
  ]);
  const live = [...running.items, ...waiting.items];
  const text = [
    `${mark} ${node.state}${node.queuePaused ? ', queue paused' : ''}`,
    facts,
    ...(live.length === 0 ? [] : ['', tasksText(screen, live, world.now())]),
  ].join('\n');
  const hints = node.queuePaused
    ? ['  orrery queue resume']
    : live.length === 0
      ? ['  orrery run "fix the failing test"']
      : [`  orrery task log ${live[0]?.id ?? 'last'} --follow`];
  return { result: { node, running: running.items, waiting: waiting.items }, text, hints };
};
