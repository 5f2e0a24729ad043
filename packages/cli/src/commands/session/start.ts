import type { SessionCreate } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { projectFor } from '../../task-request.ts';
import type { Command, CommandContext } from '../command.ts';
import { followTurn } from './follow.ts';

/** The words of the argument `prompt`, or standard input where it is `-`. */
export const promptOf = async ({ input, world }: CommandContext): Promise<string | undefined> => {
  const given = input.argument('prompt');
  const text = given === '-' ? await world.stdin.read() : given;
  return text === null || text.trim() === '' ? undefined : text;
};

/** `orrery session start`. */
export const sessionStart: Command = async (context) => {
  const connection = await context.connectOrStart();
  const { input } = context;
  const environment = input.text('env') ?? undefined;
  const project = environment === undefined ? await projectFor(context, connection) : null;
  if (environment === undefined && project === null)
    throw new OrreryError('invalid_input', 'A session needs a project or an environment.', {
      rule: 'This folder is in no repository, and neither --project nor --env was given.',
      fix: 'orrery project list',
    });
  const body = defined({ project: project?.id, environment, ...wishOf(input), prompt: await promptOf(context) });
  const session = await context.change({
    intent: body,
    send: (requestId) => connection.client.call('sessionCreate', { body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  context.note(`  session ${inertLine(session.name)}  ${session.id}`);
  const [first] = (await connection.client.call('turnList', { params: { id: session.id } })).items;
  if (first === undefined || input.flag('no-wait'))
    return {
      result: { session },
      text: `${inertLine(session.name)} begins. Say something: orrery session send ${session.name} "…"`,
    };
  return followTurn(context, connection, { session: session.id, turn: first.id, after: 0 });
};

/** Without what is not there. */
const defined = <Given extends object>(given: Given): { [Key in keyof Given]: Exclude<Given[Key], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;

/** What the options say of it. */
const wishOf = (input: CommandContext['input']) => {
  const text = (name: string): string | undefined => input.text(name) ?? undefined;
  return {
    name: text('name'),
    agent: text('agent'),
    harness: text('harness'),
    model: text('model'),
    effort: text('effort'),
    unattended: text('unattended') as SessionCreate['unattended'],
    mode: text('mode') as SessionCreate['mode'],
    backend: text('backend'),
    image: text('image'),
    base: text('base'),
    budgetUsd: input.number('budget') ?? undefined,
    maxTurns: input.number('max-turns') ?? undefined,
  };
};
