import { inertLine } from '../../inert.ts';
import { allProjects } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery project list`. */
export const projectList: Command = async (context) => {
  const projects = await allProjects(await context.connect());
  if (projects.length === 0)
    return { result: { items: [] }, text: 'There is no project yet. In a repository: orrery project add' };
  const rows = projects.map((project) => [
    inertLine(project.name),
    inertLine(project.defaultBranch ?? '-'),
    String(project.tasks),
    project.hooks.includes('validation') ? 'yes' : 'no',
    agoText(project.createdAt, context.world.now()),
    inertLine(project.source),
  ]);
  return {
    result: { items: projects },
    text: tableText(context.screen, ['project', 'branch', 'tasks', 'checked', 'added', 'source'], rows),
  };
};
