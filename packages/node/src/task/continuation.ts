// A task that continues another: what it takes over, and what it is refused for.

import { OrreryError, type TaskIntent } from '@orrery/protocol';
import { attemptsOf } from './attempt-store.ts';
import { hasEnded, intentOf, type TaskRow } from './model.ts';
import type { TaskParts } from './parts.ts';
import { workedSince } from './store.ts';

const refused = (message: string, fix: string): OrreryError =>
  new OrreryError('unsupported', message, {
    rule: 'A task continues one of the same project and program that has ended and left a conversation.',
    fix,
  });

/** What stands beside `continues` and must be what it was there. */
const checkBeside = async (parts: TaskParts, intent: TaskIntent, before: TaskRow): Promise<void> => {
  const project = intent.project === null ? null : await parts.resolveProject(intent.project);
  if (project !== null && project.id !== before.project_id)
    throw refused(`The task ${before.id} belongs to another project.`, 'Leave --project away, or go to its repository.');
  if (intent.harness !== undefined && intent.harness !== before.harness)
    throw refused(`The conversation of ${before.id} is one of ${before.harness}.`, `Leave --harness away.`);
  const beside = [
    ...(intent.base === undefined ? [] : ['--base']),
    ...(intent.environment === undefined ? [] : ['--env']),
    ...(intent.command === undefined ? [] : ['--command']),
  ];
  if (beside.length > 0)
    throw new OrreryError('invalid_input', `A continuation and ${beside.join(' and ')} do not go together.`, {
      rule: 'It goes on where the task before it ended.',
      fix: `Leave ${beside.join(' and ')} away.`,
    });
};

const checkLeft = async (parts: TaskParts, before: TaskRow): Promise<void> => {
  if (!hasEnded(before.state as Parameters<typeof hasEnded>[0]))
    throw new OrreryError('busy', `The task ${before.id} has not ended: it is ${before.state}.`, {
      rule: 'A conversation goes on when its task has ended.',
      fix: `orrery task wait ${before.id}`,
    });
  if (before.project_id === null)
    throw refused(`The task ${before.id} worked in a scratch folder, which is gone.`, 'orrery project add PATH');
  if (!parts.canCarryOn(before.harness))
    throw refused(`The harness ${before.harness} has no conversation.`, 'orrery harness list');
  if (!(await attemptsOf(parts.store.read, before.id)).some(({ conversation }) => conversation !== null))
    throw refused(`The task ${before.id} ended before its agent began.`, `orrery task retry ${before.id}`);
  if (!parts.isConversationKept(before.id))
    throw refused(
      `The conversation of ${before.id} is not kept (any more).`,
      `Begin a new one with its result: orrery task apply ${before.id}`,
    );
};

/** The environment of its own in which a task worked, when it is there and no other task worked in it since; else null. */
const environmentLeft = async (parts: TaskParts, before: TaskRow): Promise<string | null> => {
  if (before.environment_id === null || before.ended_at === null) return null;
  if ((await parts.resolveEnvironment(before.environment_id)) === null) return null;
  const used = await workedSince(parts.store.read, { environmentId: before.environment_id, sinceMs: before.ended_at });
  return used ? null : before.environment_id;
};

/** The image that a task asked for holds for what goes on from it on the same backend. */
export const imageAgain = ({ backend }: TaskIntent, before: TaskRow): string | undefined =>
  backend === undefined || backend === before.backend ? intentOf(before).image : undefined;

/**
 * The intent of a continuation with what it takes over from the task before it. @throws OrreryError that says what is in
 * the way: `busy` while it runs, `unsupported` or `invalid_input` for what cannot go on
 */
export const withPredecessor = async (parts: TaskParts, intent: TaskIntent, before: TaskRow): Promise<TaskIntent> => {
  await checkBeside(parts, intent, before);
  await checkLeft(parts, before);
  const was = intentOf(before);
  const environment = await environmentLeft(parts, before);
  return {
    ...intent,
    continues: before.id,
    project: before.project_id,
    agent: intent.agent ?? was.agent,
    harness: before.harness,
    model: intent.model ?? before.model ?? undefined,
    effort: intent.effort ?? was.effort,
    ...(environment === null
      ? { backend: intent.backend ?? before.backend, image: intent.image ?? imageAgain(intent, before) }
      : { environment, backend: intent.backend ?? undefined }),
  };
};
