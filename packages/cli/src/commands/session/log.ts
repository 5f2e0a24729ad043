import type { OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Command } from '../command.ts';
import { createWatching } from './watching.ts';

/** Events that are read at once. */
const PAGE = 1000;

/** `orrery session log`: the conversation on standard output, or events with `--json` and `--jsonl`. */
export const sessionLog: Command = async (context) => {
  const { input, mode, world } = context;
  const { client } = await context.connect();
  const session = await client.call('sessionShow', { params: { id: input.argument('session') ?? '' } });
  const watching = createWatching(context);
  const kept: OrreryEvent[] = [];
  const show = (event: OrreryEvent): void => {
    if (mode === 'json') kept.push(event);
    watching.event(event);
  };
  let after = input.number('after') ?? 0;
  for (let full = true; full;) {
    const { items } = await client.call('sessionLog', { params: { id: session.id }, query: { after, limit: PAGE } });
    for (const event of items) show(event);
    after = items.at(-1)?.sequence ?? after;
    full = items.length === PAGE;
  }
  if (!input.flag('follow')) {
    const rest = watching.flush().join('\n');
    return mode === 'json' ? { result: { session: session.id, items: kept } } : { result: { session: session.id }, text: rest };
  }
  const stop = new AbortController();
  let signal: string = 'SIGINT';
  const release = world.onStop((name) => {
    signal = name;
    stop.abort();
  });
  try {
    for await (const event of client.sessionEvents(session.id, { after, signal: stop.signal, ...watching.onLive })) show(event);
  } finally {
    watching.flush();
    release();
  }
  const error = new OrreryError('stopped_watching', 'Stopped watching; the session goes on.', {
    fix: `orrery session log ${session.name} --follow`,
  });
  return { result: { session: session.id, items: kept }, failure: { error, exit: signal === 'SIGTERM' ? 143 : 130 } };
};
