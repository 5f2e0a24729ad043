import type { TurnView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Client } from '@orrery/client';
import { inertLine } from '../../inert.ts';
import { tableText, type Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command, CommandInput } from '../command.ts';

const stateText = (screen: Screen, turn: TurnView): string => {
  if (turn.state === 'uncertain') return `${screen.careful('!')} uncertain`;
  return `  ${turn.outcome ?? turn.state}`;
};

/** `orrery session queue`. */
export const sessionQueue: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const id = input.argument('session') ?? '';
  const { items } = await client.call('turnList', { params: { id } });
  const text =
    items.length === 0
      ? `Nothing was said yet: orrery session send ${id} "…"`
      : tableText(
          screen,
          ['  state', 'input', 'kind', 'made', 'text'],
          items.map((turn) => [
            stateText(screen, turn),
            turn.id,
            turn.kind,
            agoText(turn.createdAt, world.now()),
            inertLine(turn.text),
          ]),
        );
  const parked = items.find(({ state }) => state === 'uncertain');
  return {
    result: { items },
    text,
    hints:
      parked === undefined
        ? []
        : [`  orrery session decide ${id} ${parked.id} retry`, `  orrery session decide ${id} ${parked.id} discard`],
  };
};

/** One change of an input. */
const changing =
  (send: (client: Client, ids: { id: string; turn: string }, input: CommandInput) => Promise<TurnView>): Command =>
  async (context) => {
    const { client } = await context.connect();
    const ids = { id: context.input.argument('session') ?? '', turn: context.input.argument('input') ?? '' };
    const turn = await context.change({
      intent: ids,
      send: () => send(client, ids, context.input),
      resources: (answer) => [answer.id],
    });
    return { result: { turn }, text: `${turn.id} is ${turn.outcome ?? turn.state}.` };
  };

/** `orrery session edit`. */
export const sessionEdit = changing((client, params, input) => {
  const [text, position] = [input.text('text') ?? undefined, input.number('position') ?? undefined];
  if (text === undefined && position === undefined)
    throw new OrreryError('invalid_input', 'There is nothing to change.', {
      rule: 'Give a text, a position, or both.',
      fix: `orrery session edit ${params.id} ${params.turn} --position 0`,
    });
  return client.call('turnSet', {
    params,
    body: { ...(text === undefined ? {} : { text }), ...(position === undefined ? {} : { position }) },
  });
});

/** `orrery session send-now`. */
export const sessionSendNow = changing((client, params) => client.call('turnSendNow', { params, body: {} }));

/** `orrery session remove`. */
export const sessionRemove = changing((client, params) => client.call('turnRemove', { params }));

/** `orrery session decide`. */
export const sessionDecide = changing((client, params, input) =>
  client.call('turnDecide', { params, body: { decision: input.argument('decision') === 'retry' ? 'retry' : 'discard' } }),
);
