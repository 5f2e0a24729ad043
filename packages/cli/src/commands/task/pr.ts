import { taskIdOf } from '../../names.ts';
import type { Command } from '../command.ts';
import { openedText, PULL_REQUEST_MS, pullRequestBody } from '../pull-request.ts';

/** `orrery task pr`. */
export const taskPr: Command = async (context) => {
  const { input, screen } = context;
  const connection = await context.connect();
  const id = await taskIdOf(connection, input.argument('task') ?? '');
  const without = input.list('without').map((path) => ({ path }));
  const body = { ...pullRequestBody(input), ...(without.length === 0 ? {} : { without }) };
  const opened = await context.change({
    intent: { id, ...body },
    send: (requestId) =>
      connection.client.call('taskPullRequestOpen', {
        ...{ params: { id }, body: { ...body, requestId }, idempotencyKey: requestId, timeoutMs: PULL_REQUEST_MS },
      }),
    resources: ({ pullRequest }) => [id, pullRequest.id],
  });
  return openedText(screen, opened);
};
