import { OrreryError } from '@orrery/protocol/errors';
import { projectOf } from '../../names.ts';
import { projectText } from './show.ts';
import type { Command } from '../command.ts';

/** `orrery project set`. */
export const projectSet: Command = async (context) => {
  const name = context.input.text('name');
  if (name === null)
    throw new OrreryError('invalid_input', 'Nothing is to be changed.', {
      rule: 'Say what: --name NAME.',
      fix: 'orrery project set site --name website',
    });
  const connection = await context.connect();
  const { id } = await projectOf(connection, context.input.argument('project') ?? '', context.world.cwd);
  const project = await context.change({
    intent: { id, name },
    send: () => connection.client.call('projectSet', { params: { id }, body: { name } }),
    resources: () => [id],
  });
  return { result: { project }, text: projectText(context.screen, project, context.world.now()) };
};
