import type { AnswerOf } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { tableText, type Screen } from '../../screen.ts';
import { agoText, bytesText, shellWord } from '../../wording.ts';
import { placeIdOf } from '../../names.ts';
import type { Command } from '../command.ts';

type View = AnswerOf<'egressShow'>;

const GIVEN_BY = { task: 'the task', operator: 'the operator', node: 'the node' } as const;

/** The rules of an environment, for a person. */
export const rulesText = (screen: Screen, { rules }: View): string => {
  if (rules.length === 0) return 'It may reach no host.';
  const rows = rules.map((one) => [
    one.decision === 'deny' ? screen.bad('deny') : one.beaten ? screen.careful('beaten') : screen.good('allow'),
    one.rule,
    `${GIVEN_BY[one.from]}${one.beaten ? ', but a denial beats it' : ''}`,
  ]);
  return tableText(screen, ['rule', 'host', 'given by'], rows);
};

const hostsText = (screen: Screen, { hosts }: View, nowMs: number): string => {
  const rows = hosts.map((one) => [
    `${inertLine(one.host)}:${one.port}`,
    String(one.passed),
    String(one.refused),
    bytesText(one.sentBytes),
    bytesText(one.receivedBytes),
    agoText(one.lastAt, nowMs),
    one.reason === null ? '' : inertLine(one.reason),
  ]);
  return tableText(screen, ['asked for', 'passed', 'refused', 'sent', 'received', 'last', 'why refused'], rows);
};

/** `orrery egress list`. */
export const egressList: Command = async (context) => {
  const connection = await context.connect();
  const { client } = connection;
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const view = await client.call('egressShow', { params: { id } });
  const asked = view.hosts.length === 0 ? 'Nothing was asked for yet.' : hostsText(context.screen, view, context.world.now());
  const refused = view.hosts.find((one) => one.refused > 0 && one.passed === 0);
  const rule = refused === undefined ? null : refused.port === 443 ? refused.host : `${refused.host}:${refused.port}`;
  return {
    result: view,
    text: `${rulesText(context.screen, view)}\n\n${asked}`,
    hints: [`  orrery egress allow ${shellWord(id)} ${rule === null ? 'HOST' : shellWord(rule)}`],
  };
};
