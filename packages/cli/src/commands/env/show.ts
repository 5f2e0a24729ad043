import type { EnvironmentView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { factsText, type Screen } from '../../screen.ts';
import { agoText, bytesText, countText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { pullRequestText } from '../pull-request.ts';

/** State and what is being done, in one word or two. */
export const stateText = ({ state, operation, taskId }: EnvironmentView): string => {
  if (taskId !== null) return `${state} (a task works in it)`;
  return operation === null || state === 'creating' || state === 'setting-up' || state === 'deleting'
    ? state
    : `${state} (${operation})`;
};

const setupText = ({ setup }: EnvironmentView): string =>
  setup.reason === null ? setup.state : `${setup.state}: ${inertLine(setup.reason)}`;

export const diskText = ({ diskBytes, diskLimitBytes }: EnvironmentView): string => {
  if (diskBytes === null) return 'not measured yet';
  return diskLimitBytes === null ? bytesText(diskBytes) : `${bytesText(diskBytes)} of ${bytesText(diskLimitBytes)}`;
};

/** When retention takes it: in whole days, and the next look of the node when that is past. */
export const goesText = ({ goesAt }: EnvironmentView, nowMs: number): string => {
  if (goesAt === null) return '-';
  const days = Math.ceil((Date.parse(goesAt) - nowMs) / 86_400_000);
  return days <= 0 ? 'within the hour' : `in ${countText(days, 'day')}`;
};

/** Facts of an environment. */
export const environmentText = (screen: Screen, environment: EnvironmentView, nowMs: number): string =>
  factsText(screen, [
    ['environment', inertLine(environment.name)],
    ['id', environment.id],
    ['state', stateText(environment)],
    ['because', environment.reason === null ? null : inertLine(environment.reason)],
    ['set-up', setupText(environment)],
    ['project', inertLine(environment.project.name)],
    [
      'backend',
      environment.image === null ? environment.backend : `${environment.backend}, image ${inertLine(environment.image)}`,
    ],
    [
      'base',
      environment.baseSha === null ? null : `${inertLine(environment.base ?? 'HEAD')} at ${environment.baseSha.slice(0, 10)}`,
    ],
    ['branch', inertLine(environment.branch)],
    ['folder', environment.workdir === null ? null : inertLine(environment.workdir)],
    ['ports', environment.ports.length === 0 ? null : environment.ports.map(({ name, port }) => `${name} ${port}`).join(', ')],
    ['task', environment.taskId],
    ['copy of', environment.forkedFrom],
    ['disk', diskText(environment)],
    ['made', agoText(environment.createdAt, nowMs)],
    ['used', agoText(environment.usedAt, nowMs)],
    ['pull request', pullRequestText(environment.pullRequest)],
    ['goes', environment.goesAt === null ? null : `${goesText(environment, nowMs)}, unless it holds unsaved work`],
  ]);

/** `orrery env show`. */
export const envShow: Command = async (context) => {
  const { client } = await context.connect();
  const environment = await client.call('environmentShow', { params: { id: context.input.argument('environment') ?? '' } });
  return { result: { environment }, text: environmentText(context.screen, environment, context.world.now()) };
};
