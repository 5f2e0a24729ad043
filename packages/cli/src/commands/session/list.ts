import type { AttachedView, SessionView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { fit, tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import { partedText } from '../../moments.ts';
import type { Command } from '../command.ts';
import { stateText } from './show.ts';

/** `orrery session list`. */
export const sessionList: Command = async ({ connect, input, screen, world }) => {
  const { client, operations } = await connect();
  const limit = input.number('limit') ?? 20;
  const page = await client.call('sessionList', { query: { limit } });
  // A node of an earlier version has none.
  const attached = operations.has('attachedList')
    ? (await client.call('attachedList', { query: { limit, state: 'attached' } })).items
    : [];
  const result = { ...page, attached };
  if (page.items.length + attached.length === 0)
    return { result, text: 'There is no session yet. Begin one: orrery session start "look at the failing test"' };
  return {
    result,
    text: tableText(
      screen,
      ['  state', 'session', 'harness', 'project', 'environment', 'changed', 'about'],
      [
        ...attached.map((session) => attachedCells(session, world.now())),
        ...page.items.map((session) => [
          stateText(screen, session.state),
          fit(inertLine(session.name), 30),
          session.harness,
          fit(inertLine(session.project.name), 24),
          fit(inertLine(session.environment.name), 24),
          agoText(session.changedAt, world.now()),
          fit(aboutText(session), 60),
        ]),
      ],
    ),
    hints: page.nextCursor === null ? [] : ['  There are older ones: --limit N'],
  };
};

/** A person's own program: it has no place of the node's. */
const attachedCells = ({ name, harness, program, folder, createdAt }: AttachedView, nowMs: number): string[] => [
  '  attached',
  fit(inertLine(name), 30),
  inertLine(harness ?? '-'),
  ...['-', '-'],
  agoText(createdAt, nowMs),
  fit([program ?? 'a program', ...(folder === null ? [] : [`in ${folder}`])].map(inertLine).join(' '), 60),
];

/** What it is about, and where it comes from. */
const aboutText = ({ title, name, forkedFrom }: SessionView): string =>
  [...(title === name ? [] : [inertLine(title)]), ...(forkedFrom === null ? [] : [partedText(forkedFrom)])].join(', ');
