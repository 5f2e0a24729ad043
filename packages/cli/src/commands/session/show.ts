import type { Client } from '@orrery/client';
import type { AttachedView, SessionView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { attachedText } from './attached-text.ts';
import { contextText } from '../../content-lines.ts';
import { inertLine } from '../../inert.ts';
import { partedText } from '../../moments.ts';
import { factsText, type Screen } from '../../screen.ts';
import { usageText } from '../../verdict-text.ts';
import { agoText, countText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { paidText } from '../harness/login.ts';

/** State in colour: what needs a person stands out. */
export const stateText = (screen: Screen, state: SessionView['state']): string => {
  if (state === 'waiting') return `${screen.careful('!')} ${state}`;
  if (state === 'failed') return `${screen.bad('✗')} ${state}`;
  return `  ${state}`;
};

/** An agent with where it came from, and which it was. */
const agentText = ({ name, source, path, hash }: NonNullable<SessionView['agent']>): string =>
  `${inertLine(name)} (${source}: ${inertLine(path)}, ${hash.slice(0, 12)})`;

/** What the program said it works with, where that is not what was asked for. */
const worksWith = ({ model, effort, effectiveModel, effectiveEffort }: SessionView): string | null => {
  const said = [effectiveModel, effectiveEffort].flatMap((one) => (one === null ? [] : [inertLine(one)]));
  const same = (effectiveModel === model || effectiveModel === null) && (effectiveEffort === effort || effectiveEffort === null);
  return said.length === 0 || same ? null : `${said.join(', ')} (the program says)`;
};

/** The sessions that it comes from, and the one that goes on. */
const lineage = ({ handedTo, handedFrom, forkedFrom, forks }: SessionView): readonly (readonly [string, string | null])[] => [
  ['handed on', handedTo === null ? null : `to ${handedTo}`],
  ['goes on from', handedFrom],
  ['parted', forkedFrom === null ? null : partedText(forkedFrom)],
  ['forks', forks === 'native' ? null : 'begin with a record of what was said'],
];

/** The usage limit that holds it up. */
const limitText = ({ account, until, told }: NonNullable<SessionView['limit']>): string =>
  `the usage limit of ${inertLine(account)}, until ${until}${told ? '' : ' (tried again then: nobody said when it ends)'}`;

/** What waits in it, and what lets it go on where something holds it. */
const waitsText = ({ queued, held, limit, name }: SessionView): string | null => {
  if (queued === 0) return null;
  return `${countText(queued, 'input')}${held || limit !== null ? `: orrery session resume ${name}` : ''}`;
};

const REACHED = {
  usd: ' (reached: orrery session set NAME --budget USD)',
  turns: ' (reached: orrery session set NAME --max-turns N)',
};

/** What it may cost and how long it may be. */
const budgetText = ({ budget: { usd, turns, reached }, name }: SessionView): string | null => {
  const bounds = [usd === null ? null : `${usd} USD`, turns === null ? null : countText(turns, 'turn')].filter(
    (one) => one !== null,
  );
  if (bounds.length === 0) return null;
  return `${bounds.join(', ')}${reached === null ? '' : REACHED[reached].replace('NAME', name)}`;
};

/** Its program, and what it was told to use. */
const chosenText = ({ harness, model, effort }: SessionView): string =>
  [harness, model ?? '', effort ?? '']
    .filter((part) => part !== '')
    .map(inertLine)
    .join(', ');

/** Facts of a session. */
export const sessionText = (
  screen: Screen,
  session: SessionView,
  { nowMs, paidBy }: { readonly nowMs: number; readonly paidBy: string | null },
): string =>
  factsText(screen, [
    ['session', inertLine(session.name)],
    ['about', session.title === session.name ? null : inertLine(session.title)],
    ['id', session.id],
    ['state', session.state],
    ['because', session.reason === null ? null : inertLine(session.reason)],
    ['project', inertLine(session.project.name)],
    ['environment', `${inertLine(session.environment.name)}, ${session.environment.state}, on ${session.environment.backend}`],
    ['agent', session.agent === null ? null : agentText(session.agent)],
    ['harness', chosenText(session)],
    ['works with', worksWith(session)],
    ['paid by', paidBy],
    [
      'mode',
      session.effectiveMode === null ? session.mode : `${session.mode} (the program says ${inertLine(session.effectiveMode)})`,
    ],
    ['context', session.context === null ? null : contextText(session.context)],
    ['usage', session.usage.calls === 0 ? null : usageText(session.usage)],
    ['unattended', session.unattended === 'wait' ? null : session.unattended],
    ['turn', session.turn === null ? null : String(session.turn)],
    ['waits', waitsText(session)],
    ['budget', budgetText(session)],
    ['limit', session.limit === null ? null : limitText(session.limit)],
    [
      'asks',
      session.interactions === 0
        ? null
        : `${countText(session.interactions, 'question')}: orrery session interactions ${session.name}`,
    ],
    ...lineage(session),
    ['made', agoText(session.createdAt, nowMs)],
    ['changed', agoText(session.changedAt, nowMs)],
  ]);

/** What the node says of a program that is attached, when it refuses to say it of a session of its own. */
const attachedOf = (client: Client, thrown: unknown): Promise<AttachedView> => {
  const id = thrown instanceof OrreryError ? thrown.details?.['attached'] : undefined;
  if (typeof id !== 'string') throw thrown;
  return client.call('attachedShow', { params: { id } });
};

/** `orrery session show`. */
export const sessionShow: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('session') ?? '';
  const shown = await client.call('sessionShow', { params: { id } }).catch((thrown: unknown) => attachedOf(client, thrown));
  if ('by' in shown) return { result: { attached: shown }, text: attachedText(context.screen, shown, context.world.now()) };
  const session = shown;
  const { items } = await client.call('harnessList');
  const paidBy = items.find((one) => one.id === session.harness)?.paidBy;
  const text = sessionText(context.screen, session, {
    nowMs: context.world.now(),
    paidBy: paidBy === undefined ? null : paidText(paidBy),
  });
  return { result: { session, paidBy: paidBy ?? null }, text };
};
