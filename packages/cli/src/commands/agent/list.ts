import { allProjects, projectOf, repositoryRoot } from '../../names.ts';
import type { Connection } from '../../connect.ts';
import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import type { Command, CommandContext } from '../command.ts';

/** The project that is meant: the named one, or that of this folder when the node knows it. */
export const agentProject = async (
  { input, world }: CommandContext,
  connection: Connection,
): Promise<{ readonly project?: string }> => {
  const named = input.text('project');
  if (named !== null) return { project: (await projectOf(connection, named, world.cwd)).id };
  const root = repositoryRoot(world.cwd);
  const known = (await allProjects(connection)).find(({ source }) => source === root);
  return known === undefined ? {} : { project: known.id };
};

/** `orrery agent list`. */
export const agentList: Command = async (context) => {
  const connection = await context.connect();
  const answer = await connection.client.call('agentList', { query: await agentProject(context, connection) });
  if (answer.items.length === 0) return { result: answer, text: 'There is no agent yet. Write one: orrery agent new NAME' };
  const { screen } = context;
  const rows = answer.items.map((agent) => [
    `${agent.problem === null ? ' ' : screen.bad('✗')} ${inertLine(agent.name)}`,
    agent.source,
    [agent.harness ?? '-', agent.model ?? '']
      .filter((part) => part !== '')
      .map(inertLine)
      .join(', '),
    inertLine(agent.problem?.[0] ?? agent.description ?? ''),
  ]);
  const hiding = answer.items.filter(({ hides }) => hides.length > 0);
  return {
    result: answer,
    text: tableText(screen, ['  agent', 'from', 'harness', 'what it is'], rows),
    hints: hiding.map(({ name, source, hides }) => `  ${inertLine(name)} of ${source} hides ${hides.map(inertLine).join(', ')}`),
  };
};
