import type { Attempt, Task } from '@orrery/protocol';
import { inert, inertLine } from '../../inert.ts';
import { taskIdOf } from '../../names.ts';
import { factsText, type Screen } from '../../screen.ts';
import { nextCommands, stateText, usageText } from '../../verdict-text.ts';
import { agoText, countText, durationText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { pullRequestText } from '../pull-request.ts';

const took = (startedAt: string, endedAt: string | null): string =>
  endedAt === null ? 'running' : durationText(Date.parse(endedAt) - Date.parse(startedAt));

const attemptText = (screen: Screen, attempt: Attempt): string => {
  const missing = attempt.guarantees.filter(({ held }) => !held).map(({ guarantee }) => guarantee);
  const stages = attempt.stages.map((stage) => {
    const mark =
      stage.state === 'passed'
        ? screen.good('✓')
        : stage.state === 'failed' || stage.state === 'timeout'
          ? screen.bad('✗')
          : stage.state === 'interrupted'
            ? screen.careful('!')
            : ' ';
    const name = stage.round > 1 ? `${stage.name} ${stage.round}` : stage.name;
    const why = [
      stage.state === 'skipped' ? 'skipped' : took(stage.startedAt, stage.endedAt),
      stage.exitCode !== null && stage.exitCode !== 0 ? `exit ${stage.exitCode}` : '',
      inertLine(stage.note ?? ''),
    ].filter((part, place, all) => part !== '' && all.indexOf(part) === place);
    return `${mark} ${name.padEnd(11)} ${why.join(', ')}`;
  });
  const verdict = attempt.verdict === null ? 'running' : attempt.verdict;
  return [
    `${screen.bold(`attempt ${attempt.number}`)}  ${verdict} on ${inertLine(attempt.backend)}`,
    ...(missing.length === 0 ? [] : [`${screen.careful('!')} without: ${missing.join(', ')}`]),
    ...stages,
  ].join('\n');
};

const goalText = ({ goal, result }: Task): string | null => {
  if (goal === null) return null;
  const said = result?.goal ?? null;
  return inertLine(said === null ? goal : `${goal} (${said.met ? 'met' : 'not met'}: ${said.reason})`);
};

const facts = (screen: Screen, task: Task, nowMs: number): string =>
  factsText(screen, [
    ['task', task.id],
    ['state', stateText(screen, task.state).trim()],
    ['waits for', task.waitingFor],
    ['reason', task.reason === null ? null : inertLine(task.reason)],
    ['cause', task.cause],
    ['project', task.project === null ? 'none' : `${inertLine(task.project.name)}  ${inertLine(task.project.path)}`],
    ['agent', [task.harness, task.model ?? ''].filter((part) => part !== '').join(' ')],
    ['backend', task.backend],
    ['series', task.series],
    ['continues', task.continues],
    ['depends on', task.dependsOn.length === 0 ? null : task.dependsOn.join(', ')],
    ['not before', task.notBefore],
    ['goal', goalText(task)],
    ['base', task.base],
    ['branch', task.branch],
    [
      'created',
      `${agoText(task.createdAt, nowMs)} by ${task.origin.kind === 'session' ? 'session ' : ''}${inertLine(task.origin.by)}`,
    ],
    [
      'result',
      task.result === null
        ? null
        : `${countText(task.result.filesChanged, 'file')} changed, +${task.result.insertions} −${task.result.deletions}`,
    ],
    ['saved as', task.result?.salvageRef ?? null],
    ['used', task.result === null ? null : usageText(task.result.usage)],
    ['pull request', pullRequestText(task.pullRequest)],
    ['applied', task.appliedAt === null ? null : agoText(task.appliedAt, nowMs)],
  ]);

/** `orrery task show`. */
export const taskShow: Command = async (context) => {
  const { client, ...rest } = await context.connect();
  const id = await taskIdOf({ client, ...rest }, context.input.argument('task') ?? '');
  const [task, attempts] = await Promise.all([
    client.call('taskShow', { params: { id } }),
    client.call('taskAttempts', { params: { id } }),
  ]);
  const prompt = inert(task.prompt)
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);
  const shown = prompt.length > 20 ? [...prompt.slice(0, 20), `  … ${prompt.length - 20} more lines`] : prompt;
  const validation = task.result?.validation ?? null;
  const said =
    validation === null || validation.passed
      ? []
      : [
          `${context.screen.bold('validation said')}\n${inert(validation.output)
            .trimEnd()
            .split('\n')
            .slice(-20)
            .map((line) => `  ${line}`)
            .join('\n')}`,
        ];
  const text = [
    facts(context.screen, task, context.world.now()),
    shown.join('\n'),
    ...attempts.items.map((attempt) => attemptText(context.screen, attempt)),
    ...said,
  ].join('\n\n');
  return { result: { task, attempts: attempts.items }, text, hints: ['', ...nextCommands(task)] };
};
