// Watches a session: until an input is over, or something is asked, or Ctrl-C. The session goes on whatever ends the watching.

import type { OrreryEvent, TurnView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { inertLine } from '../../inert.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { failing, heldUp } from './held-up.ts';
import { answerTo, askText } from './interactions.ts';
import { createWatching } from './watching.ts';

type Following = { readonly session: string; readonly turn: string; readonly after: number };

const isOver = ({ state }: TurnView): boolean => state === 'ended' || state === 'removed' || state === 'uncertain';

/** Shows a turn as it goes, and ends as it ended. */
export const followTurn = async (context: CommandContext, connection: Connection, following: Following): Promise<Outcome> => {
  const { client } = connection;
  const { world, input } = context;
  const stop = new AbortController();
  let stopped: 'SIGINT' | 'SIGTERM' | 'late' | null = null;
  const release = world.onStop((signal) => {
    stopped = signal;
    stop.abort();
  });
  const limit = input.number('timeout');
  const timer = limit === null ? undefined : setTimeout(() => ((stopped = 'late'), stop.abort()), limit);
  const watching = createWatching(context);
  const kept: OrreryEvent[] = [];
  const turns = async (): Promise<TurnView[]> => (await client.call('turnList', { params: { id: following.session } })).items;
  /** What keeps it from being sent at all. */
  const held = async (items: readonly TurnView[]): Promise<Outcome | null> => {
    const session = await client.call('sessionShow', { params: { id: following.session } });
    const failed = heldUp(session, items, following.turn);
    return failed === null ? null : { result: { session: following.session }, ...failed };
  };
  try {
    const early = await held(await turns());
    if (early !== null) return early;
    const how = { after: following.after, signal: stop.signal, ...watching.onLive };
    for await (const event of client.sessionEvents(following.session, how)) {
      if (context.mode === 'json') kept.push(event);
      watching.event(event);
      if (!mayEnd(event)) continue;
      const items = await turns();
      const turn = items.find(({ id }) => id === following.turn) ?? null;
      if (turn !== null && isOver(turn))
        return ended(context, { turn, session: following.session, kept, rest: watching.flush() });
      if (turn !== null && event.body.kind === 'interaction.opened' && context.mode !== 'jsonl') {
        const asked = await asks(context, connection, { ...following, rest: watching.flush() });
        if (asked !== null) return asked;
      }
      const waits = await held(items);
      if (waits !== null) return waits;
    }
  } finally {
    watching.flush();
    release();
    clearTimeout(timer);
  }
  return leftAlone(following.session, stopped);
};

const mayEnd = ({ body }: OrreryEvent): boolean =>
  ['turn.ended', 'turn.parked', 'state', 'interaction.opened', 'notice'].includes(body.kind);

/** What waits for a person ends the command with 6: the session waits on. */
const asks = async (
  { screen, world }: CommandContext,
  { client }: Connection,
  { session, rest }: Following & { readonly rest: readonly string[] },
): Promise<Outcome | null> => {
  const { items } = await client.call('interactionList', { query: { session } });
  const [first] = items;
  if (first === undefined) return null;
  const error = new OrreryError('interaction_required', `The agent asks: ${inertLine(first.ask.title)}`, {
    rule: 'Without an answer it does not happen; the session waits.',
    fix: `orrery session answer ${first.id} ${answerTo(first)}`,
    details: { interaction: first },
  });
  return {
    result: { session, interactions: items },
    text: [...rest, askText(screen, first, world.now())].join('\n'),
    failure: { error, exit: 6 },
  };
};

const ended = (
  { mode }: CommandContext,
  {
    turn,
    session,
    kept,
    rest,
  }: {
    readonly turn: TurnView;
    readonly session: string;
    readonly kept: readonly OrreryEvent[];
    readonly rest: readonly string[];
  },
): Outcome => {
  const result = { session, turn, ...(mode === 'json' ? { items: kept } : {}) };
  const text = rest.length === 0 ? undefined : rest.join('\n');
  const said = { result, ...(text === undefined ? {} : { text }) };
  if (turn.outcome === 'success') return said;
  if (turn.state === 'uncertain') {
    const error = new OrreryError('outcome_unknown', inertLine(turn.reason ?? 'Nobody knows whether the agent got it.'), {
      rule: 'Nothing is sent twice without your word.',
      fix: `orrery session decide ${session} ${turn.id} retry`,
    });
    return { ...said, ...failing(error, 7) };
  }
  const limited = turn.outcome === 'limit' || turn.outcome === 'budget';
  const error = new OrreryError(
    limited ? 'limit_reached' : 'agent_failed',
    `The turn ended: ${turn.outcome ?? turn.state}. ${inertLine(turn.reason ?? '')}`.trim(),
    {
      fix: `orrery session log ${session}`,
    },
  );
  return { ...said, failure: { error, exit: limited ? 10 : 1 } };
};

const leftAlone = (session: string, stopped: 'SIGINT' | 'SIGTERM' | 'late' | null): Outcome => {
  const late = stopped === 'late';
  const error = new OrreryError(
    late ? 'deadline' : 'stopped_watching',
    late ? 'The turn is not over yet.' : 'Stopped watching; the session goes on.',
    {
      rule: 'Watching a session does not keep it alive, and not watching does not end it.',
      fix: `orrery session log ${session} --follow`,
    },
  );
  return { result: { session }, ...failing(error, late ? 5 : stopped === 'SIGTERM' ? 143 : 130) };
};
