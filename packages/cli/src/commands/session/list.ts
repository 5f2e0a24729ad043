import type { SessionView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { fit, tableText } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import { partedText } from '../../moments.ts';
import type { Command } from '../command.ts';
import { stateText } from './show.ts';

/** `orrery session list`. */
export const sessionList: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const page = await client.call('sessionList', { query: { limit: input.number('limit') ?? 20 } });
  if (page.items.length === 0)
    return { result: page, text: 'There is no session yet. Begin one: orrery session start "look at the failing test"' };
  return {
    result: page,
    text: tableText(
      screen,
      ['  state', 'session', 'harness', 'project', 'environment', 'changed', 'about'],
      page.items.map((session) => [
        stateText(screen, session.state),
        fit(inertLine(session.name), 30),
        session.harness,
        fit(inertLine(session.project.name), 24),
        fit(inertLine(session.environment.name), 24),
        agoText(session.changedAt, world.now()),
        fit(aboutText(session), 60),
      ]),
    ),
    hints: page.nextCursor === null ? [] : ['  There are older ones: --limit N'],
  };
};

/** What it is about, and where it comes from. */
const aboutText = ({ title, name, forkedFrom }: SessionView): string =>
  [...(title === name ? [] : [inertLine(title)]), ...(forkedFrom === null ? [] : [partedText(forkedFrom)])].join(', ');
