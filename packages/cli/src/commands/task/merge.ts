import { taskIdOf } from '../../names.ts';
import type { Command } from '../command.ts';
import { mergeBody, mergedText } from '../pull-request.ts';

/** `orrery task merge`. */
export const taskMerge: Command = async ({ input, screen, connect }) => {
  const connection = await connect();
  const { client } = connection;
  const params = { id: await taskIdOf(connection, input.argument('task') ?? '') };
  const outlook = await client.call('taskPullRequest', { params, query: { refresh: 'true' } });
  return mergedText(screen, await client.call('taskPullRequestMerge', { params, body: mergeBody(input, outlook) }));
};
