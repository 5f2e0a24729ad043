import { projectFor } from '../../task-request.ts';
import { OrreryError } from '@orrery/protocol/errors';
import type { Command } from '../command.ts';
import { followEnvironment } from './follow.ts';

/** `orrery env create`. */
export const envCreate: Command = async (context) => {
  const connection = await context.connect();
  const project = await projectFor(context, connection);
  if (project === null)
    throw new OrreryError('invalid_input', 'An environment needs a project.', {
      rule: 'This folder is in no repository, and --project was not given.',
      fix: 'orrery project list',
    });
  const { input } = context;
  const body = {
    project: project.id,
    name: input.text('name') ?? undefined,
    backend: input.text('backend') ?? undefined,
    image: input.text('image') ?? undefined,
    base: input.text('base') ?? undefined,
    start: !input.flag('stopped'),
    noCache: input.flag('no-cache') ? true : undefined,
  };
  const begun = await context.change({
    intent: body,
    send: (requestId) => connection.client.call('environmentCreate', { body: { ...body, requestId }, idempotencyKey: requestId }),
    resources: ({ id }) => [id],
  });
  return followEnvironment(context, connection, begun);
};
