import type { StageName } from '@orrery/protocol';
import { updateTask } from '../../task/store.ts';
import {
  beginStage,
  checkGoing,
  endStage,
  loadPrepared,
  passed,
  remainingMs,
  savePrepared,
  type AttemptContext,
  type Prepared,
} from '../attempt-context.ts';
import type { AttemptSettings, HookName, WorkPlace } from '../doors.ts';
import { AttemptEnded, endingOf } from '../ending.ts';

const name: StageName = 'prepare';

/** The base commit, its hooks and settings, a backend that can run here, and a clean checkout. Repeatable until its result is stored. */
export const prepare = async (context: AttemptContext): Promise<Prepared> => {
  const before = loadPrepared(context);
  if (before !== null) return before;
  const row = await beginStage(context, name, 1);
  try {
    const prepared = await findAll(context);
    context.parts.atKillPoint('checkout-made', name);
    await endStage(context, row, { ...passed, note: noteOf(prepared) }, (tx) => savePrepared(tx, context, prepared));
    context.parts.atKillPoint('prepared', name);
    return prepared;
  } catch (thrown) {
    const ending = endingOf(thrown, 'workspace');
    await endStage(context, row, { state: 'failed', exitCode: null, note: ending.reason, output: null });
    throw new AttemptEnded(ending);
  }
};

const findAll = async (context: AttemptContext): Promise<Prepared> => {
  const { parts, task, intent, attempt } = context;
  const branch = intent.branch ?? `orrery/${task.id}`;
  checkGoing(context);
  if (task.project_id === null) {
    const settings = await settle(context, null);
    const place = await parts.workspace.scratch({ taskId: task.id, attempt: attempt.number });
    return { baseSha: null, baseName: null, branch, place, hooks: [], settings };
  }
  const base = await parts.projects.resolveBase(task.project_id, intent.base ?? null);
  const { hooks, projectFile } = await parts.projects.readHooks(task.project_id, base.sha);
  const settings = await settle(context, projectFile);
  checkGoing(context);
  const place: WorkPlace = await parts.workspace.claim({
    projectId: task.project_id,
    taskId: task.id,
    attempt: attempt.number,
    baseSha: base.sha,
    branch,
  });
  return { baseSha: base.sha, baseName: base.name, branch, place, hooks: [...hooks.keys()] as HookName[], settings };
};

/** Settings of request, project and operator; then one check that the backend can run here, before the checkout and any token. */
const settle = async (context: AttemptContext, projectFile: string | null): Promise<AttemptSettings> => {
  const settings = context.parts.settle({ intent: context.task.intent, projectFile });
  remainingMs(context, settings);
  try {
    await context.parts.backend(settings.backend).preflight(settings.required);
  } catch (thrown) {
    throw new AttemptEnded(endingOf(thrown, 'backend'));
  }
  const { harness, backend, model } = settings;
  await context.parts.store.transaction((tx) => updateTask(tx.db, context.task.id, { harness, backend, model }));
  return settings;
};

const noteOf = (prepared: Prepared): string =>
  prepared.baseSha === null ? 'a scratch folder' : `${prepared.baseName ?? 'base'} at ${prepared.baseSha.slice(0, 12)}`;
