import type { Task, TaskDiff } from '@orrery/protocol';
import type { Connection } from '../../connect.ts';
import { inert } from '../../inert.ts';
import { createLiveLine, type LiveLine } from '../../live-line.ts';
import { createTimeline, type Timeline } from '../../timeline.ts';
import { nextCommands, verdictText } from '../../verdict-text.ts';
import { failureOfTask, stopWatching, watchTask } from '../../watch.ts';
import { durationText } from '../../wording.ts';
import { paintPatch } from '../task/diff.ts';
import type { CommandContext, Outcome } from '../command.ts';

/** What a watched run also does. */
export type RunWishes = {
  readonly apply: boolean;
  readonly debug: boolean;
  readonly patch?: boolean;
  /** Events up to that sequence were shown; and a wait for a person, who is here, ends nothing. */
  readonly after?: number;
  readonly hints?: readonly string[];
};

/** Watches a task that was just sent, with its timeline on standard error, and ends with its verdict. */
export const watchRun = async (
  context: CommandContext,
  connection: Connection,
  { task, wishes }: { readonly task: Task; readonly wishes: RunWishes },
): Promise<Outcome> => {
  const { side, world, mode } = context;
  const timeline = createTimeline(side);
  const live = createLiveLine(world.stderr, side);
  const ticking = mode === 'human' ? tick(context, live, timeline) : null;
  let described = false;
  const printAll = (lines: readonly string[]): void => {
    if (mode === 'human') for (const line of lines) live.print(line);
  };
  try {
    const watched = await watchTask(context, connection, {
      id: task.id,
      after: wishes.after,
      throughWaits: wishes.after !== undefined,
      onConnection: (lost) =>
        printAll([
          lost === null
            ? `${side.good('✓')} The node is back.`
            : `${side.careful('!')} ${lost.message} Trying again; the task goes on.`,
        ]),
      onEvent: async (event) => {
        if (mode === 'jsonl') context.data({ text: null, json: event });
        printAll(timeline.lines(event));
        if (wishes.debug && !described && event.body.kind === 'stage.started' && event.body.stage === 'drive') {
          described = true;
          printAll(await describe(connection, task.id));
        }
      },
    });
    printAll(timeline.flush());
    live.status(null);
    if (watched.stopped !== null) return await stopWatching(context, connection, watched);
    if (wishes.debug && !described) printAll(await describe(connection, task.id));
    return await finish(context, connection, { task: watched.task, wishes });
  } finally {
    ticking?.stop();
    live.status(null);
  }
};

const tick = ({ world, side }: CommandContext, live: LiveLine, timeline: Timeline): { stop(): void } | null => {
  if (!side.live) return null;
  const timer = setInterval(() => {
    const doing = timeline.doing();
    live.status(
      doing === null
        ? null
        : `${doing.what} ${durationText(Math.max(0, Math.floor((world.now() - doing.sinceMs) / 1000) * 1000))}`,
    );
  }, 1000);
  return { stop: () => clearInterval(timer) };
};

const describe = async ({ client, operations }: Connection, id: string): Promise<string[]> => {
  if (!operations.has('taskDescribe')) return ['! This node cannot say what it runs (--debug).'];
  const { runs } = await client.call('taskDescribe', { params: { id } });
  return runs.flatMap(({ stage, text }) => [
    `  ${stage} runs:`,
    ...inert(text)
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
  ]);
};

const diffOf = async ({ client }: Connection, task: Task): Promise<TaskDiff | null> =>
  (task.result?.filesChanged ?? 0) === 0 ? null : client.call('taskDiff', { params: { id: task.id } }).catch(() => null);

/** Lines of a patch that are shown below a verdict; the rest is in `task diff`. */
const PATCH_LINES = 60;

const patchLines = ({ screen }: CommandContext, diff: TaskDiff): string[] => {
  const lines = paintPatch(screen, diff.patch.trimEnd()).split('\n');
  const left = lines.length - PATCH_LINES;
  return ['', ...lines.slice(0, PATCH_LINES), ...(left > 0 ? [screen.dim(`… ${left} more lines`)] : [])];
};

const finish = async (
  context: CommandContext,
  connection: Connection,
  { task, wishes }: { readonly task: Task; readonly wishes: RunWishes },
): Promise<Outcome> => {
  const diff = await diffOf(connection, task);
  const text = [
    verdictText(context.screen, task, diff),
    ...(wishes.patch === true && diff !== null ? patchLines(context, diff) : []),
  ].join('\n');
  const failure = failureOfTask(task);
  const files = diff === null ? [] : diff.files;
  if (failure !== undefined || !wishes.apply || files.length === 0) {
    return {
      result: { task, files },
      text,
      hints: ['', ...nextCommands(task), ...(wishes.hints ?? [])],
      ...(failure === undefined ? {} : { failure }),
    };
  }
  const applied = await connection.client.call('taskApply', {
    params: { id: task.id },
    body: { mode: 'tree' },
    timeoutMs: 120_000,
  });
  return {
    result: { task, files, applied },
    text: `${text}\n${context.screen.good('✓')} applied  ${inert(applied.note)}`,
    hints: ['', `  orrery task log ${task.id}`, ...(wishes.hints ?? [])],
  };
};
