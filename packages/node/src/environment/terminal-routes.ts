import type { OperationHandlers } from '@orrery/protocol';
import type { OpenPlaces } from './open-places.ts';
import type { Terminals } from './terminals.ts';

type InsideOperations = 'terminalList' | 'terminalOpen' | 'terminalEnd' | 'environmentStats';

/** Handlers of the operations that go into open environments. */
export const insideHandlers = ({
  terminals,
  places,
}: {
  readonly terminals: Terminals;
  readonly places: OpenPlaces;
}): Pick<OperationHandlers, InsideOperations> => ({
  terminalList: async ({ params }) => ({ items: [...(await terminals.list(params.id))] }),
  terminalOpen: ({ params, body }) => terminals.open(params.id, body),
  terminalEnd: ({ params, body }) => terminals.end(params.id, params.terminal, body),
  environmentStats: async ({ params }) => {
    const { environment, environmentId } = await places.find(params.id);
    return { environmentId, ...(await environment.stats()) };
  },
});
