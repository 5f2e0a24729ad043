import type { Command } from '../command.ts';
import { mergeBody, mergedText } from '../pull-request.ts';

/** `orrery env merge`. */
export const envMerge: Command = async ({ input, screen, connect }) => {
  const { client } = await connect();
  const params = { id: input.argument('environment') ?? '' };
  const outlook = await client.call('environmentPullRequest', { params, query: { refresh: 'true' } });
  return mergedText(screen, await client.call('environmentPullRequestMerge', { params, body: mergeBody(input, outlook) }));
};
