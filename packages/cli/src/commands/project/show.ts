import type { Project } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { projectOf } from '../../names.ts';
import { factsText, type Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** Facts of a project. */
export const projectText = (screen: Screen, project: Project, nowMs: number): string =>
  factsText(screen, [
    ['project', inertLine(project.name)],
    ['id', project.id],
    ['source', inertLine(project.source)],
    ['branch', project.defaultBranch === null ? 'none' : inertLine(project.defaultBranch)],
    ['head', project.headSha?.slice(0, 10) ?? 'no commits'],
    [
      'hooks',
      project.hooks.length === 0
        ? 'none (nothing checks results; add .orrery/hooks/validation.sh)'
        : project.hooks.map(inertLine).join(', '),
    ],
    ['notes', project.notes.length === 0 ? null : project.notes.map(inertLine).join('; ')],
    ['tasks', String(project.tasks)],
    ['added', agoText(project.createdAt, nowMs)],
  ]);

/** `orrery project show`. */
export const projectShow: Command = async (context) => {
  const connection = await context.connect();
  const { id } = await projectOf(connection, context.input.argument('project') ?? '', context.world.cwd);
  const project = await connection.client.call('projectShow', { params: { id } });
  return {
    result: { project },
    text: projectText(context.screen, project, context.world.now()),
    hints: [`  orrery task list --project ${project.name}`],
  };
};
