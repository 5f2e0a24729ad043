import { OUTPUT_EVENT_BYTES, OUTPUT_EVENTS_BYTES } from '../kernel/limits.ts';
import { taskEvent, type AttemptContext } from './attempt-context.ts';

/** What a build prints, as output of the stage `prepare`: shown as it comes, up to a named limit. */
export type BuildOutput = {
  take(line: string): void;
  /** Resolves when all of it is shown. */
  end(): Promise<void>;
};

/** Shows output of an attempt. Pieces are written one after the other, those that come meanwhile together. */
export const createBuildOutput = (context: AttemptContext): BuildOutput => {
  const where = { attempt: context.attempt.number, stage: 'prepare', round: 1 } as const;
  let waiting = '';
  let shown = 0;
  let writing: Promise<void> | null = null;
  const write = async (): Promise<void> => {
    while (waiting !== '') {
      const text = waiting.slice(0, OUTPUT_EVENT_BYTES);
      waiting = waiting.slice(text.length);
      await context.journal.transaction((tx) =>
        tx.append([taskEvent(context, null, { kind: 'stage.output', ...where, stream: 'stdout', text })]),
      );
    }
  };
  return {
    take: (line) => {
      const text = `${line}\n`;
      if (shown >= OUTPUT_EVENTS_BYTES) return;
      shown += text.length;
      waiting += shown >= OUTPUT_EVENTS_BYTES ? `${text}The rest is not shown.\n` : text;
      writing ??= write().finally(() => {
        writing = null;
      });
      // What it fails of is told by `end`.
      writing.catch(() => undefined);
    },
    end: async () => {
      while (writing !== null) await writing;
      await write();
    },
  };
};
