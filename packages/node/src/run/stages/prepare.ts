import type { StageName } from '@orrery/protocol';
import type { Tx } from '../../store/store.ts';
import { updateTask } from '../../task/index.ts';
import {
  beginStage,
  checkGoing,
  endStage,
  loadPrepared,
  passed,
  remainingMs,
  savePrepared,
  taskEvent,
  type AttemptContext,
  type Prepared,
} from '../attempt-context.ts';
import type { AttemptSettings, HookName, WorkPlace } from '../doors.ts';
import { createBuildOutput } from '../build-output.ts';
import { predecessorOf, type Predecessor } from '../continuation.ts';
import { AttemptEnded, endingOf } from '../ending.ts';
import { refuseOrders } from '../orders.ts';
import { setupKey } from '../environments/setup-key.ts';
import { settleProjectImage } from '../project-image.ts';

const name: StageName = 'prepare';

/** The base commit, its hooks and settings, a backend that can run here, and a clean checkout. Repeatable until its result is stored. */
export const prepare = async (context: AttemptContext): Promise<Prepared> => {
  const before = loadPrepared(context);
  if (before !== null) return before;
  const row = await beginStage(context, name, 1);
  try {
    const found = await fillModules(context, await findAll(context));
    const notes = [...(await fillLfs(context, found)), ...(await bringFiles(context, found))];
    const prepared = { ...found, ...(await takeSetup(context, found)) };
    await refuseOrders(context.parts, {
      harness: context.parts.harness(prepared.settings.harness),
      projectId: context.task.project_id,
      checkout: prepared.place.path,
    });
    context.parts.atKillPoint('checkout-made', name);
    const { harness, backend, model } = prepared.settings;
    const also = async (tx: Tx): Promise<void> => {
      await savePrepared(tx, context, prepared);
      await updateTask(tx.db, context.task.id, { harness, backend, model });
      await tx.append(notes.map((text) => taskEvent(context, null, { kind: 'notice', level: 'warning', text })));
    };
    endStage(context, row, { ...passed, note: noteOf(prepared), also });
    context.journal.onceDurable(() => context.parts.atKillPoint('prepared', name));
    return prepared;
  } catch (thrown) {
    const ending = endingOf(thrown, 'workspace');
    endStage(context, row, { state: 'failed', exitCode: null, note: ending.reason, output: null });
    throw new AttemptEnded(ending);
  }
};

/** Ignored files that the project wants in its checkouts. One that others work in has them since it was made. */
const bringFiles = async ({ parts }: AttemptContext, { place, settings, named }: Prepared): Promise<readonly string[]> =>
  named !== undefined || settings.copy.length === 0 ? [] : parts.workspace.bringFiles(place.checkoutId, settings.copy);

/** Submodules are filled before anything looks at the checkout. */
const fillModules = async ({ parts }: AttemptContext, prepared: Prepared): Promise<Prepared> => {
  const { settings, place, named, baseSha } = prepared;
  if (settings.submodules === 'none' || named !== undefined || baseSha === null) return prepared;
  const modules = await parts.workspace.fillModules(place.checkoutId, settings.submodules);
  return { ...prepared, place: { ...place, modules } };
};

/** Contents of files in Git LFS, where the project wants them. One that others work in has them since it was made. */
const fillLfs = async ({ parts }: AttemptContext, { settings, place, named, baseSha }: Prepared): Promise<readonly string[]> =>
  settings.lfs === 'pointers' || named !== undefined || baseSha === null
    ? []
    : parts.workspace.fillLfs(place.checkoutId, settings.lfs);

/** The state of an earlier set-up, where the project says which folders hold it. */
const takeSetup = async ({ parts, task, intent }: AttemptContext, prepared: Prepared): Promise<Pick<Prepared, 'setup'>> => {
  const { settings, place, baseSha, hooks, named } = prepared;
  const none = settings.cache.length === 0 || !hooks.includes('init') || named !== undefined || intent.readOnly;
  if (none || task.project_id === null || baseSha === null) return {};
  const init = (await parts.projects.readHooks(task.project_id, prepared.rulesSha ?? baseSha)).hooks.get('init');
  const key = await setupKey({ scripts: init === undefined ? [] : [init], tree: place.path, ...settings });
  if (intent.noCache === true) await parts.workspace.forgetSetup(task.project_id, key);
  const taken = await parts.workspace.takeSetup(place.checkoutId, { key, paths: settings.cache });
  return { setup: { key, reused: taken !== null } };
};

const findAll = async (context: AttemptContext): Promise<Prepared> => {
  const { parts, task, intent, attempt } = context;
  const branch = intent.branch ?? `orrery/${task.id}`;
  checkGoing(context);
  const before = await predecessorOf(context);
  if (task.environment_id !== null) return findIn(context, task.environment_id, before);
  if (task.project_id === null) {
    const settings = await settle(context, null);
    const place = await parts.workspace.scratch({ taskId: task.id, attempt: attempt.number });
    return { baseSha: null, baseName: null, branch, place, hooks: [], settings };
  }
  await parts.projects.refresh(task.project_id);
  const { base, hooks, ...rest } =
    before === null ? await findBase(context, task.project_id) : await findLeft(context, task.project_id, before);
  checkGoing(context);
  // What a task goes on from is an agent's work; the rules, and the image with them, are those it began with.
  const settings = await findImage(context, task.project_id, { baseSha: before?.rulesSha ?? base.sha, settings: rest.settings });
  const place: WorkPlace = await parts.workspace.claim({
    projectId: task.project_id,
    taskId: task.id,
    attempt: attempt.number,
    baseSha: base.sha,
    branch,
  });
  const found = { baseSha: base.sha, baseName: base.name, branch, place, hooks: [...hooks.keys()] as HookName[], settings };
  return before === null ? found : { ...found, rulesSha: before.rulesSha, continued: before.continued };
};

/** The image that the base commit asks for; what building it prints is output of this stage. */
const findImage = async (
  context: AttemptContext,
  projectId: string,
  { baseSha, settings }: { readonly baseSha: string; readonly settings: AttemptSettings },
): Promise<AttemptSettings> => {
  if (settings.imageFrom === undefined) return settings;
  const output = createBuildOutput(context);
  const signal = AbortSignal.any([context.cancelled, context.detached]);
  const question = { parts: context.parts, projectId, baseSha, settings, signal, progress: output.take };
  try {
    const found = await settleProjectImage(question);
    await output.end();
    return found;
  } catch (thrown) {
    await output.end();
    checkGoing(context);
    throw new AttemptEnded(endingOf(thrown, 'backend'));
  }
};

/** A task that works in an environment of its own gets it when that is ready: its set-up comes before the first prompt. */
const findIn = async (context: AttemptContext, id: string, before: Predecessor | null): Promise<Prepared> => {
  const { parts, task, intent } = context;
  const signal = AbortSignal.any([context.cancelled, context.detached]);
  const taken = await parts.named.take(id, { taskId: task.id, signal }).catch((thrown: unknown) => {
    checkGoing(context);
    throw thrown;
  });
  const { projectFile } = await parts.projects.readHooks(task.project_id ?? '', taken.baseSha);
  const settings = await parts.settle({
    intent: { ...intent, backend: taken.backend, image: taken.image },
    projectId: task.project_id,
    projectFile,
  });
  remainingMs(context, settings);
  const { baseSha, baseName, branch, place, hooks } = taken;
  const found = { baseSha, baseName, branch, place, hooks, settings, named: id };
  if (before === null) return found;
  const { taskId } = before.continued;
  return { ...found, continued: { ...before.continued, from: `continues ${taskId} in its environment, as it is` } };
};

type Found = {
  readonly base: { readonly sha: string; readonly name: string };
  readonly hooks: ReadonlyMap<HookName, Uint8Array>;
  readonly settings: AttemptSettings;
};

/** The commit to begin at (request, else the project's file, else what is checked out) with its hooks and settings. */
const findBase = async (context: AttemptContext, projectId: string): Promise<Found> => {
  const { projects } = context.parts;
  const at = async (name: string | null): Promise<Found> => {
    const base = await projects.resolveBase(projectId, name);
    const { hooks, projectFile } = await projects.readHooks(projectId, base.sha);
    return { base, hooks, settings: await settle(context, projectFile) };
  };
  const asked = await at(context.intent.base ?? null);
  return context.intent.base === undefined && asked.settings.base !== null ? at(asked.settings.base) : asked;
};

/** What a continued task left, under the hooks and settings that held for it: those in the result may be an agent's. */
const findLeft = async (context: AttemptContext, projectId: string, { sha, rulesSha }: Predecessor): Promise<Found> => {
  const { hooks, projectFile } = await context.parts.projects.readHooks(projectId, rulesSha);
  return { base: { sha, name: sha.slice(0, 12) }, hooks, settings: await settle(context, projectFile) };
};

/** Settings of request, project and operator; then one check that the backend can run here, before the checkout and any token. */
const settle = async (context: AttemptContext, projectFile: string | null): Promise<AttemptSettings> => {
  const { parts, task, intent } = context;
  const settings = await parts.settle({ intent, projectId: task.project_id, projectFile });
  remainingMs(context, settings);
  try {
    await parts.backend(settings.backend).preflight(settings.required);
  } catch (thrown) {
    throw new AttemptEnded(endingOf(thrown, 'backend'));
  }
  return settings;
};

const noteOf = ({ baseSha, baseName, continued }: Prepared): string =>
  continued !== undefined
    ? continued.from
    : baseSha === null
      ? 'a scratch folder'
      : `${baseName ?? 'base'} at ${baseSha.slice(0, 12)}`;
