import type { OrreryEvent } from '@orrery/protocol';
import type { Connection } from '../../connect.ts';
import { endOfTask } from '../../exit.ts';
import { taskIdOf } from '../../names.ts';
import { createTimeline, type Timeline } from '../../timeline.ts';
import { stopWatching, watchTask } from '../../watch.ts';
import { stateText } from '../../verdict-text.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';

type Reading = {
  readonly context: CommandContext;
  readonly connection: Connection;
  readonly timeline: Timeline;
  readonly kept: OrreryEvent[];
};

const show = ({ context, timeline, kept }: Reading, event: OrreryEvent): void => {
  const lines = timeline.lines(event);
  if (context.mode === 'json') kept.push(event);
  else if (context.mode === 'jsonl') context.data({ text: null, json: event });
  else for (const text of lines) context.data({ text, json: event });
};

const readPages = async (reading: Reading, id: string, from: number): Promise<number> => {
  let after = from;
  for (;;) {
    const page = await reading.connection.client.call('taskLog', { params: { id }, query: { after, limit: 1000 } });
    for (const event of page.items) show(reading, event);
    const last = page.items.at(-1)?.sequence ?? null;
    if (last === null || page.nextCursor === null) return last ?? after;
    after = last;
  }
};

/** `orrery task log`: the timeline on standard output, or events with `--json` and `--jsonl`. */
export const taskLog: Command = async (context): Promise<Outcome> => {
  const connection = await context.connect();
  const { client } = connection;
  const id = await taskIdOf(connection, context.input.argument('task') ?? '');
  const reading: Reading = { context, connection, timeline: createTimeline(context.screen), kept: [] };
  const after = await readPages(reading, id, context.input.number('after') ?? 0);
  let task = await client.call('taskShow', { params: { id } });
  if (context.input.flag('follow') && endOfTask(task) === null) {
    const watched = await watchTask(context, connection, { id, after, onEvent: (event) => show(reading, event) });
    if (watched.stopped !== null) return stopWatching(context, connection, watched);
    task = watched.task;
  }
  const rest = [...reading.timeline.flush(), `${stateText(context.screen, task.state)}  ${context.screen.dim(task.id)}`].join(
    '\n',
  );
  return context.mode === 'json'
    ? { result: { task: id, state: task.state, items: reading.kept } }
    : { result: { task: id, state: task.state }, text: rest };
};
