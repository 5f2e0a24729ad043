import { inertLine } from '../../inert.ts';
import { projectOf } from '../../names.ts';
import type { Command } from '../command.ts';

/** `orrery project remove`. */
export const projectRemove: Command = async (context) => {
  const connection = await context.connect();
  const project = await projectOf(connection, context.input.argument('project') ?? '', context.world.cwd);
  const { id } = project;
  const salvage = context.input.flag('salvage');
  await context.change({
    intent: { id, salvage },
    send: () => connection.client.call('projectRemove', { params: { id }, query: { salvage: salvage ? 'true' : 'false' } }),
    resources: () => [id],
  });
  return {
    result: { removed: id },
    text: `${context.screen.good('✓')} ${inertLine(project.name)} is forgotten; its repository is as it was.`,
    hints: salvage ? ['  orrery salvage list'] : [],
  };
};
