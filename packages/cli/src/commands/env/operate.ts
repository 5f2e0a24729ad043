import type { EnvironmentView } from '@orrery/protocol';
import type { Connection } from '../../connect.ts';
import type { Command, CommandContext } from '../command.ts';
import { followEnvironment } from './follow.ts';

/** A verb that changes what an environment does, and is watched until it is done. */
const operate =
  (
    verb: string,
    send: (connection: Connection, call: { readonly id: string; readonly context: CommandContext }) => Promise<EnvironmentView>,
  ): Command =>
  async (context) => {
    const connection = await context.connect();
    const id = context.input.argument('environment') ?? '';
    const begun = await context.change({
      intent: { verb, id, override: verb === 'setup' && context.input.flag('override') },
      send: () => send(connection, { id, context }),
      resources: (environment) => [environment.id],
    });
    return followEnvironment(context, connection, begun);
  };

/** `orrery env start`. */
export const envStart = operate('start', ({ client }, { id }) => client.call('environmentStart', { params: { id }, body: {} }));

/** `orrery env stop`. */
export const envStop = operate('stop', ({ client }, { id }) => client.call('environmentStop', { params: { id }, body: {} }));

/** `orrery env recreate`. */
export const envRecreate = operate('recreate', ({ client }, { id }) =>
  client.call('environmentRecreate', { params: { id }, body: {} }),
);

/** `orrery env setup`. */
export const envSetup = operate('setup', ({ client }, { id, context }) =>
  client.call('environmentSetup', {
    params: { id },
    body: { override: context.input.flag('override') },
  }),
);
