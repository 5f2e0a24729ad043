import { createLiveRows } from '@orrery/client';
import type { LiveText, OrreryEvent } from '@orrery/protocol';
import { createLiveBlock } from '../../live-block.ts';
import { createTimeline } from '../../timeline.ts';
import type { CommandContext } from '../command.ts';

/** Shows a session as it goes: events as lines that stay; on a terminal what is being written below them. */
export type Watching = {
  event(event: OrreryEvent): void;
  /** For `sessionEvents`, only where somebody sees it. */
  readonly onLive: { readonly onLive?: (piece: LiveText | null) => void };
  /** What is still held back; nothing is shown live any more. */
  flush(): string[];
};

const PREFIX = { text: '', thinking: '· ', 'tool.result': '│ ' } as const;

export const createWatching = (context: CommandContext): Watching => {
  const timeline = createTimeline(context.screen);
  const rows = createLiveRows();
  const block = createLiveBlock(context.world.stdout, context.screen);
  const show = (): void => {
    const row = rows.rows().at(-1);
    if (row === undefined) block.clear();
    else block.show(PREFIX[row.kind] + row.text);
  };
  const print = (lines: readonly string[], event: OrreryEvent | null): void => {
    if (lines.length > 0) block.clear();
    for (const text of lines) context.data({ text, json: event });
  };
  /** The text that is held back, since a revision may follow: it stays once another row is written. */
  let held: string | null = null;
  const onLive = (piece: LiveText | null): void => {
    if (piece === null) {
      rows.forget();
      return;
    }
    if (piece.kind !== 'text' || piece.row !== held) print(timeline.flush(), null);
    rows.take(piece);
    show();
  };
  return {
    event: (event) => {
      const lines = timeline.lines(event);
      rows.stored(event);
      if (context.mode === 'json') return;
      if (context.mode === 'jsonl') return context.data({ text: null, json: event });
      print(lines, event);
      if (event.body.kind === 'text') held = event.body.row;
      if (rows.rows().length > 0) show();
    },
    onLive: context.mode === 'human' && context.screen.live ? { onLive } : {},
    flush: () => {
      block.clear();
      return timeline.flush();
    },
  };
};
