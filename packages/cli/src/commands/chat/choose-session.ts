// Which session a chat is about: the named one, the last one of this project, or a new one.

import type { SessionCreate, SessionView } from '@orrery/protocol';
import { closest, OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { inertLine } from '../../inert.ts';
import { projectFor } from '../../task-request.ts';
import { agoText } from '../../wording.ts';
import type { CommandContext } from '../command.ts';

/** Options that say how a new session is made. */
const MAKING = ['env', 'name', 'harness', 'model', 'effort', 'mode', 'backend', 'image', 'base'] as const;

export const chooseSession = async (context: CommandContext, connection: Connection): Promise<SessionView> => {
  const { input } = context;
  const named = input.argument('session');
  const making = MAKING.filter((option) => input.text(option) !== null);
  if (named !== null) {
    if (making.length > 0 || input.flag('new') || input.text('project') !== null)
      throw new OrreryError('invalid_input', 'A session that is there was made before.', {
        rule: 'Options that say how one is made go with a new one, without a name of one.',
        fix: `orrery chat ${inertLine(named)}`,
      });
    return namedSession(connection, named);
  }
  if (input.text('env') !== null) return create(context, connection, null);
  const project = await projectFor(context, connection);
  if (project === null)
    throw new OrreryError('invalid_input', 'A chat needs a session, a project or an environment.', {
      rule: 'This folder is in no repository, and none of them was named.',
      fix: 'orrery session list',
    });
  const last = making.length > 0 || input.flag('new') ? null : await lastOf(connection, project.id);
  if (last === null) return create(context, connection, project.id);
  context.note(
    `  Going on with ${inertLine(last.name)}, ${agoText(last.changedAt, context.world.now())}. Another one: orrery chat --new`,
  );
  return last;
};

const namedSession = async ({ client }: Connection, named: string): Promise<SessionView> => {
  try {
    return await client.call('sessionShow', { params: { id: named } });
  } catch (thrown) {
    const error = toOrreryError(thrown);
    if (error.code !== 'not_found') throw error;
    const { items } = await client.call('sessionList', { query: { limit: 200 } });
    const guess = closest(
      named,
      items.map(({ name }) => name),
    );
    throw new OrreryError('not_found', 'There is no such session.', {
      rule:
        guess === null
          ? 'A session is named by its id, the beginning of one, or its name.'
          : `Did you mean "${inertLine(guess)}"?`,
      fix: guess === null ? 'orrery session list' : `orrery chat ${inertLine(guess)}`,
    });
  }
};

/** The session of the project in which something happened last; one that ended is none. */
const lastOf = async ({ client }: Connection, project: string): Promise<SessionView | null> => {
  const { items } = await client.call('sessionList', { query: { limit: 50, project } });
  const [last] = items
    .filter(({ state }) => state !== 'ended')
    .toSorted((left, right) => right.changedAt.localeCompare(left.changedAt));
  return last ?? null;
};

const create = async (context: CommandContext, connection: Connection, project: string | null): Promise<SessionView> => {
  const { input } = context;
  const given = Object.fromEntries(
    MAKING.flatMap((option) => {
      const text = input.text(option);
      return text === null ? [] : [[option === 'env' ? 'environment' : option, text]];
    }),
  ) as Partial<SessionCreate>;
  const body = { mode: 'ask' as const, ...given, ...(project === null ? {} : { project }) };
  const session = await context.change({
    intent: body,
    send: (requestId) => connection.client.call('sessionCreate', { body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  context.note(`  A new session: ${inertLine(session.name)}, with ${inertLine(session.harness)}.`);
  return session;
};
