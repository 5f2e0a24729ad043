import type { Command } from '../command.ts';
import { openedText, PULL_REQUEST_MS, pullRequestBody } from '../pull-request.ts';

/** `orrery env pr`. */
export const envPr: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('environment') ?? '';
  const body = pullRequestBody(context.input);
  const opened = await context.change({
    intent: { id, ...body },
    send: (requestId) =>
      client.call('environmentPullRequestOpen', {
        ...{ params: { id }, body: { ...body, requestId }, idempotencyKey: requestId, timeoutMs: PULL_REQUEST_MS },
      }),
    resources: ({ pullRequest }) => [pullRequest.id],
  });
  return openedText(context.screen, opened);
};
