import type { Task, TaskDiff, UsageTotals } from '@orrery/protocol';
import { inert, inertLine } from './inert.ts';
import type { Screen } from './screen.ts';
import { costText, countText, durationText, tokensText } from './wording.ts';

/** Files that are named below a verdict. */
const NAMED_FILES = 12;

const MARK: Readonly<Record<Task['state'], '✓' | '!' | '✗' | ' '>> = {
  queued: ' ',
  waiting: '!',
  running: ' ',
  accepted: '✓',
  rejected: '✗',
  failed: '✗',
  cancelled: '!',
  limit: '!',
  interrupted: '!',
};

/** The state of a task with its mark, coloured. */
export const stateText = (screen: Screen, state: Task['state']): string => {
  const mark = MARK[state];
  const paint = { '✓': screen.good, '!': screen.careful, '✗': screen.bad, ' ': (text: string) => text }[mark];
  return `${paint(mark)} ${state}`;
};

/** What a task used: calls, tokens and cost; an unknown cost is said as unknown. */
export const usageText = (usage: UsageTotals): string => {
  if (usage.calls === 0) return 'no model calls';
  const cached = usage.cachedTokens > 0 ? ` (${tokensText(usage.cachedTokens)} cached)` : '';
  return `${countText(usage.calls, 'model call')}, ${tokensText(usage.inputTokens)} tokens in${cached}, ${tokensText(usage.outputTokens)} out, ${costText(usage.costUsd)}`;
};

const changeText = (screen: Screen, change: { readonly insertions: number | null; readonly deletions: number | null }): string =>
  change.insertions === null || change.deletions === null
    ? screen.dim('binary')
    : `${screen.added(`+${change.insertions}`)} ${screen.removed(`−${change.deletions}`)}`;

/** Files with what changed in each. */
export const filesText = (screen: Screen, files: TaskDiff['files'], most = NAMED_FILES): string[] => {
  const shown = files.slice(0, most);
  const width = Math.max(0, ...shown.map(({ path }) => inertLine(path).length));
  const lines = shown.map(
    (file) =>
      `  ${inertLine(file.path).padEnd(width)}  ${changeText(screen, file)}${file.status === 'modified' ? '' : screen.dim(` ${inertLine(file.status)}`)}`,
  );
  return files.length > most ? [...lines, `  ${screen.dim(`and ${files.length - most} more`)}`] : lines;
};

const tookText = (task: Task): string =>
  task.startedAt === null || task.endedAt === null
    ? ''
    : ` after ${durationText(Date.parse(task.endedAt) - Date.parse(task.startedAt))}`;

/** The end of a run: verdict, reason, what changed, what it used. */
export const verdictText = (screen: Screen, task: Task, diff: TaskDiff | null): string => {
  const { result } = task;
  const lines = [`${screen.bold(stateText(screen, task.state))}${tookText(task)}  ${screen.dim(task.id)}`];
  if (task.reason !== null) lines.push(`  ${inertLine(task.reason)}`);
  if (task.waitingFor !== null) lines.push(`  waits for ${inertLine(task.waitingFor)}`);
  if (task.cause !== null) lines.push(`  cause: ${task.cause}`);
  if (result === null) return lines.join('\n');
  if (result.summary !== null)
    lines.push(
      ...inert(result.summary)
        .trim()
        .split('\n')
        .slice(0, 10)
        .map((line) => `  ${line}`),
    );
  lines.push(
    result.filesChanged === 0
      ? '  no files changed'
      : `  ${countText(result.filesChanged, 'file')} changed  ${changeText(screen, result)}`,
  );
  if (diff !== null) lines.push(...filesText(screen, diff.files).map((line) => `  ${line}`));
  if (result.salvageRef !== null) lines.push(`  saved as ${result.salvageRef}`);
  lines.push(`  ${usageText(result.usage)}`);
  if (task.pullRequest?.url != null) lines.push(`  pull request ${inertLine(task.pullRequest.url)}`);
  return lines.join('\n');
};

/** What may be done with a task now. */
export const nextCommands = (task: Task): string[] => {
  const commands: string[] = [];
  if (task.interactive && ['running', 'waiting'].includes(task.state)) commands.push(`orrery task attach ${task.id}`);
  if ((task.result?.filesChanged ?? 0) > 0) commands.push(`orrery task diff ${task.id}`);
  if (task.state === 'accepted' && (task.result?.filesChanged ?? 0) > 0 && task.project !== null && task.appliedAt === null)
    commands.push(`orrery task apply ${task.id}`);
  commands.push(`orrery task log ${task.id}`);
  if (['rejected', 'failed', 'limit', 'interrupted', 'cancelled'].includes(task.state))
    commands.push(`orrery task retry ${task.id}`);
  return commands.map((command) => `  ${command}`);
};
