import { resolve } from 'node:path';
import type { TaskCreate } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { newRequestId } from '../../receipts.ts';
import { sendTask } from '../../task-request.ts';
import type { Command } from '../command.ts';
import { watchRun } from './watch-run.ts';

/** What the node's program answers to `demo`: the repository it made, the task to give, and how to use a real model. */
type DemoMade = {
  readonly source: string;
  readonly task: Omit<TaskCreate, 'project' | 'origin'>;
  readonly realModel: readonly string[];
};

const isMade = (value: unknown): value is DemoMade =>
  typeof value === 'object' &&
  value !== null &&
  'source' in value &&
  typeof value.source === 'string' &&
  'task' in value &&
  typeof value.task === 'object' &&
  value.task !== null;

/** `orrery demo`: a small repository with a failing test, worked on by a scripted model in a real program and sandbox. */
export const demo: Command = async (context) => {
  const { input, world } = context;
  const connection = await context.connectOrStart();
  const folder = input.text('folder');
  const line = await world.processes.callNode({
    args: ['demo', ...context.nodeArguments, ...(folder === null ? [] : ['--folder', resolve(world.cwd, folder)])],
  });
  const made = line['result'];
  if (!isMade(made))
    throw new OrreryError('internal', "The node's program did not say where the demo is.", { fix: 'orrery doctor' });
  context.note(`  A small repository with a failing test: ${made.source}`);
  const project = await connection.client.call('projectAdd', {
    body: { source: made.source },
    idempotencyKey: newRequestId(world),
  });
  const backend = input.text('backend');
  const harness = input.text('harness');
  const request: TaskCreate = {
    ...made.task,
    project: project.id,
    ...(backend === null ? {} : { backend }),
    ...(harness === null ? {} : { harness }),
    origin: { kind: 'demo', by: world.env['USER'] ?? 'unknown' },
  };
  const task = await sendTask(context, connection, request);
  context.note(`  task ${task.id}: ${task.harness}${task.model === null ? '' : ` (${task.model})`} on ${task.backend}`);
  const realModel = Array.isArray(made.realModel) ? made.realModel : [];
  const hints = [
    '',
    '  With a real model, in a repository of yours:',
    ...realModel.map((text) => `  ${text}`),
    '  orrery run "fix the failing test"',
    '',
    '  To stop the node:',
    '  orrery down',
  ];
  return watchRun(context, connection, { task, wishes: { apply: false, debug: false, hints } });
};
