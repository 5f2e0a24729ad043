import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Project, Task, TaskCreate } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { CommandContext, CommandInput } from './commands/command.ts';
import type { Connection } from './connect.ts';
import { allProjects, projectOf, repositoryRoot, taskIdOf } from './names.ts';
import { spanMs } from './option-value.ts';
import { newRequestId } from './receipts.ts';
import { shellWord } from './wording.ts';

/** Reads the prompt: an argument, or standard input for `-`. Nothing is asked for. */
export const readPrompt = async (context: CommandContext): Promise<string> => {
  const given = context.input.argument('prompt');
  const prompt = given === '-' ? await context.world.stdin.read() : given;
  if (prompt !== null && prompt.trim() !== '') return prompt;
  if (prompt === null && context.input.tail.length > 0) return context.input.tail.map(shellWord).join(' ');
  throw new OrreryError(
    given === null ? 'invalid_input' : 'empty_input',
    given === null ? 'A prompt is needed.' : 'The prompt is empty.',
    { rule: 'It is the first argument; - reads it from standard input.', fix: 'orrery run "fix the failing test"' },
  );
};

/** The command behind `--`, which needs `--command` or `--harness command`, and the other way round. */
const commandOf = (input: CommandInput): { readonly harness?: string; readonly command?: string[] } => {
  const harness = input.text('harness');
  const wanted = input.flag('command') || harness === 'command';
  if (!wanted && input.tail.length === 0) return harness === null ? {} : { harness };
  if (wanted && harness !== null && harness !== 'command')
    throw new OrreryError('invalid_input', 'A command and an agent program do not go together.', {
      rule: '--command runs what is behind -- without an agent.',
      fix: 'Leave out --harness, or --command.',
    });
  if (input.tail.length === 0)
    throw new OrreryError('invalid_input', 'The command is missing.', {
      rule: 'It comes last, behind --.',
      fix: 'orrery run --command -- make lint',
    });
  if (!wanted)
    throw new OrreryError('invalid_input', 'What is behind -- is a command, and a command needs --command.', {
      rule: 'A task has an agent or a command.',
      fix: `orrery run --command -- ${input.tail.map(shellWord).join(' ')}`,
    });
  return { harness: 'command', command: [...input.tail] };
};

const limitsOf = (input: CommandInput): TaskCreate['limits'] => {
  const cpuMs = input.number('limit-cpu');
  const limits = {
    wallMs: input.number('limit-wall'),
    hookMs: input.number('limit-hook'),
    turnMs: input.number('limit-turn'),
    cpuSeconds: cpuMs === null ? null : Math.max(1, Math.ceil(cpuMs / 1000)),
    memoryBytes: input.number('limit-memory'),
    processes: input.number('limit-processes'),
    outputBytes: input.number('limit-output'),
    diskBytes: input.number('limit-disk'),
  };
  const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));
  return Object.keys(given).length === 0 ? undefined : given;
};

/** The JSON of a file that an option names. */
const jsonFile = async ({ input, world }: CommandContext, option: string): Promise<unknown> => {
  const file = input.text(option);
  if (file === null) return undefined;
  const refuse = (message: string): never => {
    throw new OrreryError('invalid_input', message, {
      rule: 'It is a file with one JSON value.',
      fix: 'orrery run --help',
    });
  };
  const text = await readFile(resolve(world.cwd, file), 'utf8').catch(() => refuse(`The file of --${option} cannot be read.`));
  try {
    return JSON.parse(text);
  } catch {
    return refuse(`The file of --${option} is not JSON.`);
  }
};

const objectOf = (value: unknown, option: string): Record<string, unknown> | undefined => {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new OrreryError('invalid_input', `The file of --${option} is no JSON Schema.`, {
    rule: 'It is a JSON object.',
    fix: 'orrery run --help',
  });
};

/** An instant: a date, or a time from now. */
const notBeforeOf = ({ input, world }: CommandContext): string | undefined => {
  const given = input.text('not-before');
  if (given === null) return undefined;
  const span = spanMs(given);
  const at = span === null ? Date.parse(given) : world.now() + span;
  if (Number.isNaN(at) || (span === null && !/^\d{4}-\d\d-\d\d/.test(given)))
    throw new OrreryError('invalid_input', 'The value of --not-before cannot be used.', {
      rule: 'A date, in UTC when it ends in Z and else in the time of this machine, or a span from now.',
      fix: 'orrery run --not-before 2026-12-24T06:00Z · orrery run --not-before 90m',
    });
  return new Date(at).toISOString();
};

const memoryKinds = ['global', 'project', 'agent'] as const;

const memoryOf = (input: CommandInput): TaskCreate['memory'] => {
  const given = input.list('memory');
  const unknown = given.find((kind) => !memoryKinds.some((known) => known === kind));
  if (unknown !== undefined)
    throw new OrreryError('invalid_input', 'There is no such memory.', {
      rule: `Memories are ${memoryKinds.join(', ')}.`,
      fix: 'orrery run --memory project "note what you learnt"',
    });
  return given.length === 0 ? undefined : memoryKinds.filter((kind) => given.includes(kind));
};

const agentOf = (input: CommandInput): Pick<TaskCreate, 'agent' | 'model' | 'effort'> => ({
  agent: input.text('agent') ?? undefined,
  model: input.text('model') ?? undefined,
  effort: input.text('effort') ?? undefined,
});

/** What to send for `run` and `task add`; finds or adds the project. */
export const taskRequest = async (context: CommandContext, connection: Connection, prompt: string): Promise<TaskCreate> => {
  const { input } = context;
  const command = commandOf(input);
  const environment = input.text('env') ?? undefined;
  // An environment has its project, and so has a task that is continued; one that is named beside is checked against that.
  const continued = input.text('continue');
  const continues = continued === null ? undefined : await taskIdOf(connection, continued);
  const dependsOn = await Promise.all(input.list('depends-on').map((id) => taskIdOf(connection, id)));
  const follows = environment !== undefined || continues !== undefined;
  const project = follows && input.text('project') === null ? null : await projectFor(context, connection);
  const egress = input.list('egress');
  return {
    prompt,
    project: project?.id ?? null,
    ...command,
    ...agentOf(input),
    backend: input.text('backend') ?? undefined,
    image: input.text('image') ?? undefined,
    environment,
    continues,
    series: input.text('series') ?? undefined,
    dependsOn: dependsOn.length === 0 ? undefined : dependsOn,
    notBefore: notBeforeOf(context),
    goal: input.text('goal') ?? undefined,
    input: await jsonFile(context, 'input'),
    inputSchema: objectOf(await jsonFile(context, 'input-schema'), 'input-schema'),
    outputSchema: objectOf(await jsonFile(context, 'output-schema'), 'output-schema'),
    base: input.text('base') ?? undefined,
    branch: input.text('branch') ?? undefined,
    readOnly: input.flag('read-only'),
    noCache: input.flag('no-cache') ? true : undefined,
    priority: input.number('priority') ?? undefined,
    maxRetries: input.number('max-retries') ?? undefined,
    budgetUsd: input.number('budget') ?? undefined,
    limits: limitsOf(input),
    memory: memoryOf(input),
    egress: egress.length === 0 ? undefined : [...egress],
    origin: { kind: 'cli', by: context.world.env['USER'] ?? context.world.env['LOGNAME'] ?? 'unknown' },
  };
};

/** The named project, or the one of the repository around the current folder, added when the node does not know it. */
export const projectFor = async (context: CommandContext, connection: Connection): Promise<Project | null> => {
  const { input, world } = context;
  const named = input.text('project');
  if (named !== null) return projectOf(connection, named, world.cwd);
  const root = repositoryRoot(world.cwd);
  if (root === null) {
    context.note('  Not in a repository: it works in an empty folder of its own.');
    return null;
  }
  const known = (await allProjects(connection)).find(({ source }) => source === root);
  if (known !== undefined) return known;
  // Adding the same repository again answers the same project, so that this needs no receipt of its own.
  const project = await connection.client.call('projectAdd', { body: { source: root }, idempotencyKey: newRequestId(world) });
  context.note(`  This repository is now the project ${project.name}.`);
  return project;
};

/** Sends a task with its receipt. */
export const sendTask = (context: CommandContext, { client }: Connection, request: TaskCreate): Promise<Task> =>
  context.change({
    intent: request,
    send: (requestId) => client.call('taskAdd', { body: { ...request, requestId }, idempotencyKey: requestId }),
    resources: (task) => [task.id],
  });
