import { countText, shellWord } from '../../wording.ts';
import { placeIdOf } from '../../names.ts';
import type { Command } from '../command.ts';
import { rulesText } from './list.ts';

const change =
  (operation: 'egressAllow' | 'egressDeny'): Command =>
  async (context) => {
    const connection = await context.connect();
    const { client } = connection;
    const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
    const rule = context.input.argument('host') ?? '';
    const view = await context.change({
      intent: { id, rule },
      send: () => client.call(operation, { params: { id }, body: { rule } }),
      resources: ({ environmentId }) => [environmentId],
    });
    const ended = view.ended === 0 ? '' : `\n${countText(view.ended, 'connection')} ended.`;
    return {
      result: view,
      text: `${rulesText(context.screen, view)}${ended}`,
      hints: [`  orrery egress list ${shellWord(id)}`],
    };
  };

/** `orrery egress allow`. */
export const egressAllow: Command = change('egressAllow');

/** `orrery egress deny`. */
export const egressDeny: Command = change('egressDeny');
