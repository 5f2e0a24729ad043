import type { SessionView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Client } from '@orrery/client';
import { inertLine } from '../../inert.ts';
import { countText } from '../../wording.ts';
import type { Command } from '../command.ts';

type SessionChange = Partial<
  Pick<SessionView, 'name' | 'mode' | 'unattended'> & {
    readonly model: string;
    readonly effort: string;
    readonly budgetUsd: number;
    readonly maxTurns: number;
  }
>;
type Asked = { readonly client: Client; readonly id: string };

/** One change of a session, and a line that says what it came to. */
const changing =
  (send: (asked: Asked) => Promise<SessionView>, said: (session: SessionView) => string): Command =>
  async (context) => {
    const { client } = await context.connect();
    const id = context.input.argument('session') ?? '';
    const session = await context.change({
      intent: { session: id },
      send: () => send({ client, id }),
      resources: (answer) => [answer.id],
    });
    return { result: { session }, text: said(session) };
  };

/** `orrery session stop`. */
export const sessionStop = changing(
  ({ client, id }) => client.call('sessionInterrupt', { params: { id }, body: {} }),
  ({ name }) => `The turn of ${inertLine(name)} is being stopped.`,
);

/** `orrery session close`. */
export const sessionClose = changing(
  ({ client, id }) => client.call('sessionClose', { params: { id }, body: {} }),
  ({ name, queued }) =>
    `The program of ${inertLine(name)} sleeps; ${queued === 0 ? 'the next input wakes it.' : `${countText(queued, 'input')} wait: orrery session resume ${name}`}`,
);

/** `orrery session resume`. */
export const sessionResume = changing(
  ({ client, id }) => client.call('sessionResume', { params: { id }, body: {} }),
  ({ name, queued }) => `${inertLine(name)} goes on${queued === 0 ? '; nothing waits in it' : ''}.`,
);

/** `orrery session end`. */
export const sessionEnd = changing(
  ({ client, id }) => client.call('sessionEnd', { params: { id }, body: {} }),
  ({ name, environment }) =>
    `${inertLine(name)} ends; its history stays, and so does its environment ${inertLine(environment.name)}.`,
);

/** `orrery session set`. */
export const sessionSet: Command = async (context) => {
  const { input } = context;
  const given = (['name', 'mode', 'unattended', 'model', 'effort'] as const).map(
    (option) => [option, input.text(option)] as const,
  );
  const bounds = [
    ['budgetUsd', input.number('budget')],
    ['maxTurns', input.number('max-turns')],
  ] as const;
  const body: SessionChange = Object.fromEntries([...given, ...bounds].filter(([, value]) => value !== null));
  if (Object.keys(body).length === 0)
    throw new OrreryError('invalid_input', 'There is nothing to change.', {
      rule: 'Give a name, a mode, a model, an effort, a budget, or what becomes of what it asks.',
      fix: 'orrery session set SESSION --mode edits',
    });
  const { client } = await context.connect();
  const id = input.argument('session') ?? '';
  const session = await context.change({
    intent: { session: id, ...body },
    send: () => client.call('sessionSet', { params: { id }, body }),
    resources: (answer) => [answer.id],
  });
  return {
    result: { session },
    text: `${[
      `${inertLine(session.name)}: mode ${session.mode}`,
      ...(session.unattended === 'wait' ? [] : [`unattended ${session.unattended}`]),
      ...[session.model, session.effort].flatMap((one) => (one === null ? [] : [inertLine(one)])),
    ].join(', ')}.`,
  };
};

/** `orrery session rename`. */
export const sessionRename: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('session') ?? '';
  const name = context.input.argument('name') ?? '';
  const session = await context.change({
    intent: { session: id, name },
    send: () => client.call('sessionSet', { params: { id }, body: { name } }),
    resources: (answer) => [answer.id],
  });
  return { result: { session }, text: `It is called ${inertLine(session.name)} now.` };
};
