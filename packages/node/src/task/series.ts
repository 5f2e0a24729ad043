// A series is a chain of tasks of one project under a name: each begins when the one before it was accepted, from its result.

import { OrreryError, type TaskIntent } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';
import { imageAgain } from './continuation.ts';
import { intentOf, type TaskRow } from './model.ts';
import type { TaskParts } from './parts.ts';
import { seriesBefore } from './store.ts';

/** The task that a new one of a series follows: the newest that was accepted or still can be; null for the first. */
export const lastOfSeries = async (
  db: Kysely<Tables>,
  of: { readonly projectId: string; readonly series: string },
): Promise<TaskRow | null> => (await seriesBefore(db, of))[0] ?? null;

/** The intent of a task of a series with what it takes over from the one before it. */
export const withSeries = async (parts: TaskParts, intent: TaskIntent, series: string): Promise<TaskIntent> => {
  if (intent.project === null)
    throw new OrreryError('invalid_input', 'A series belongs to a project.', {
      rule: 'Each task of it begins at the result of the one before it.',
      fix: 'orrery run --project PROJECT --series NAME "what is next"',
    });
  const { id: projectId } = await parts.resolveProject(intent.project);
  const last = await lastOfSeries(parts.store.read, { projectId, series });
  if (last === null) return intent;
  if (intent.base !== undefined)
    throw new OrreryError('invalid_input', `The series ${series} has begun: its next task begins at the result of ${last.id}.`, {
      rule: 'Only the first task of a series has a base.',
      fix: 'Leave --base away, or begin another series.',
    });
  if (intent.environment !== undefined && (await parts.resolveEnvironment(intent.environment))?.id !== last.environment_id)
    throw new OrreryError(
      'invalid_input',
      `The series ${series} goes on from ${last.id}, which did not work in that environment.`,
      {
        rule: 'A task of a series begins at the result of the one before it.',
        fix: 'Leave --env away, or begin another series.',
      },
    );
  const same = intent.harness === undefined || intent.harness === last.harness;
  return {
    ...intent,
    harness: intent.harness ?? (intent.command === undefined && last.harness !== 'command' ? last.harness : undefined),
    ...(same && last.harness !== 'command'
      ? { model: intent.model ?? last.model ?? undefined, effort: intent.effort ?? intentOf(last).effort }
      : {}),
    ...(intent.environment === undefined
      ? { backend: intent.backend ?? last.backend, image: intent.image ?? imageAgain(intent, last) }
      : {}),
  };
};
