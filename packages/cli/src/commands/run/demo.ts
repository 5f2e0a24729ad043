import { resolve } from 'node:path';
import type { TaskCreate } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { inert, inertLine } from '../../inert.ts';
import { pick } from '../../names.ts';
import { newRequestId } from '../../receipts.ts';
import { sendTask } from '../../task-request.ts';
import { durationText } from '../../wording.ts';
import { INSTALL_MS } from '../harness/install.ts';
import type { Command, CommandContext } from '../command.ts';
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
  await checkBackend(context, connection);
  const made = await makeRepository(context);
  context.note(`  A small repository with a failing test: ${made.source}`);
  await installHarness(context, connection, made.task.harness ?? null);
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
    origin: { kind: 'demo', by: world.env['USER'] ?? world.env['LOGNAME'] ?? 'unknown' },
  };
  const task = await sendTask(context, connection, request);
  context.note(`  task ${task.id}: ${task.harness} on ${task.backend}`);
  context.note('  The model is the bundled scripted one: it plays a part written beforehand. All else is real.');
  return watchRun(context, connection, { task, wishes: { apply: false, debug: false, patch: true, hints: afterwards(made) } });
};

/** Stops before anything is made when the backend does not work here: it is never replaced by a weaker one. */
const checkBackend = async ({ input, note }: CommandContext, { client }: Connection): Promise<void> => {
  const { items } = await client.call('backendList');
  const named = input.text('backend') ?? items.find(({ isDefault }) => isDefault)?.name ?? '';
  const backend = pick(items, named, {
    of: ({ name, aliases }) => [name, ...aliases],
    noun: 'backend',
    fix: 'orrery backend list',
  });
  if (!backend.usable) {
    throw new OrreryError(
      'guarantee_missing',
      `The backend ${backend.name} does not work on this machine: ${inertLine(backend.problem ?? 'unknown')}`,
      {
        rule: 'A weaker one is never taken in its place; one without walls is chosen by you.',
        // Somebody who named another than the usual one is told how to have that.
        fix: backend.isDefault ? 'orrery demo --backend local' : inertLine(backend.fix ?? 'orrery demo'),
        details: { backend },
      },
    );
  }
  const missing = backend.guarantees.filter(({ held }) => !held).map(({ guarantee }) => guarantee);
  note(
    `  Backend ${backend.name}${missing.length === 0 ? ': holds every guarantee here' : `: does not hold ${missing.join(', ')}`}`,
  );
};

/** Installs the agent program when it is not there yet, and says so: it is a download. */
const installHarness = async (
  { input, note, world }: CommandContext,
  { client, operations }: Connection,
  usual: string | null,
): Promise<void> => {
  const { items } = await client.call('harnessList');
  const named = input.text('harness') ?? usual ?? items.find(({ isDefault }) => isDefault)?.id ?? '';
  const harness = pick(items, named, { of: ({ id }) => [id], noun: 'harness', fix: 'orrery harness list' });
  if (harness.program === null || harness.installedVersion !== null || !operations.has('harnessInstall')) return;
  note(
    `  Installing ${harness.id}${harness.pinnedVersion === null ? '' : ` ${harness.pinnedVersion}`} below the data directory; this downloads it once.`,
  );
  const installed = await client.call('harnessInstall', {
    params: { id: harness.id },
    body: {},
    idempotencyKey: newRequestId(world),
    timeoutMs: INSTALL_MS,
  });
  note(`  ${harness.id} ${installed.version} is there (${durationText(installed.tookMs)}).`);
};

const makeRepository = async ({ input, world, nodeArguments }: CommandContext): Promise<DemoMade> => {
  const folder = input.text('folder');
  const where = folder === null ? [] : ['--folder', resolve(world.cwd, folder)];
  const line = await world.processes.callNode({ args: ['demo', ...nodeArguments, ...where] });
  const made = line['result'];
  if (isMade(made)) return made;
  throw new OrreryError('internal', "The node's program did not say where the demo is.", { fix: 'orrery doctor' });
};

const afterwards = ({ realModel }: DemoMade): string[] => [
  '',
  '  The same in a browser, with a diff to review:',
  '  orrery open',
  '',
  '  With a real model, in a repository of yours:',
  ...(Array.isArray(realModel) ? realModel : []).map((text) => `  ${inert(text)}`),
  '  orrery run "fix the failing test"',
  '',
  '  To stop the node:',
  '  orrery down',
];
