import type { TaskIntent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Broker } from '../broker/index.ts';
import type { NodeConfig } from '../config/node-schema.ts';
import { findEnvironment, recordedEnvironment } from '../environment/index.ts';
import type { Backend } from '../exec/backend.ts';
import type { Harness } from '../harness/harness.ts';
import type { KeeperGuarantee } from '../keeper/types.ts';
import { SCREEN_PROMPT_BYTES } from '../kernel/limits.ts';
import type { Remover } from '../files/remove.ts';
import type { Projects, Results } from '../project/index.ts';
import type { HookName, ProjectDoor, RunParts, TokenDoor, WorkPlace, WorkspaceDoor } from '../run/doors.ts';
import type { Store } from '../store/store.ts';
import type { Checkout, Workspace } from '../workspace/index.ts';
import type { Backends } from './backends.ts';
import { isScripted, scriptedProvider, type Scripted } from './scripted.ts';
import { checkTakesImage, settleRequest, type SettlingGround } from './settle-request.ts';

// The run ring's doors, opened onto the slices that are really there.

/** Commits whose hooks are kept in memory: a commit never changes, and an attempt asks more than once. */
const KEPT_HOOKS = 64;

export const projectDoor = (projects: Projects): ProjectDoor => {
  const kept = new Map<string, Awaited<ReturnType<ProjectDoor['readHooks']>>>();
  return {
    refresh: async (projectId) => void (await projects.refresh(projectId)),
    listTree: (projectId, at) => projects.listTree(projectId, at),
    readFiles: (projectId, files) => projects.readFiles(projectId, files),
    resolveBase: async (projectId, base) => ({ sha: await projects.resolveBase(projectId, base), name: base ?? 'HEAD' }),
    readHooks: async (projectId, sha) => {
      const key = `${projectId} ${sha}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const { hooks, settings } = await projects.readHooks(projectId, sha);
      const read = {
        hooks: new Map<HookName, Uint8Array>(hooks.map(({ name, contents }) => [name, contents])),
        projectFile: settings,
      };
      kept.set(key, read);
      for (const oldest of kept.keys()) if (kept.size > KEPT_HOOKS) kept.delete(oldest);
      return read;
    },
  };
};

const placeOf = (checkout: Checkout): WorkPlace => ({
  checkoutId: checkout.id,
  path: checkout.path,
  readOnly: checkout.readOnlyPaths,
  reads: checkout.borrowedObjects === null ? [] : [checkout.borrowedObjects],
});

export const workspaceDoor = (workspace: Workspace, results: Pick<Results, 'diff'>): WorkspaceDoor => ({
  claim: async ({ projectId, taskId, baseSha, branch }) =>
    placeOf((await workspace.checkoutOf(taskId)) ?? (await workspace.claim({ projectId, taskId, baseSha, branch }))),
  bringFiles: async (checkoutId, patterns) => (await workspace.bringFiles(checkoutId, patterns)).notes,
  likeFiles: (checkoutId, from) => workspace.likeFiles(checkoutId, from),
  fillModules: (checkoutId, policy) => workspace.fillModules(checkoutId, policy),
  fillLfs: async (checkoutId, policy) => (await workspace.fillLfs(checkoutId, policy)).notes,
  takeSetup: (checkoutId, state) => workspace.takeSetup(checkoutId, state),
  keepSetup: (checkoutId, state) => workspace.keepSetup(checkoutId, state),
  forgetSetup: (projectId, key) => workspace.forgetSetup(projectId, key),
  scratch: async ({ taskId }) => placeOf((await workspace.checkoutOf(taskId)) ?? (await workspace.scratch(taskId))),
  collect: async ({ checkoutId, taskId, attempt, baseSha, message }) => {
    if (baseSha === null)
      return {
        headSha: null,
        resultRef: null,
        filesChanged: 0,
        insertions: 0,
        deletions: 0,
        commits: 0,
        salvageRef: null,
        notes: [],
      };
    const { headSha, resultRef, files, insertions, deletions, commits, notes } = await workspace.collect(checkoutId, {
      taskId,
      attempt,
      message,
    });
    return { headSha, resultRef, filesChanged: files.length, insertions, deletions, commits, salvageRef: null, notes };
  },
  release: async (checkoutId, reason) => {
    // An attempt's programs ended before it was collected, and none has been started since.
    const how = reason === undefined ? { reason: 'the attempt ended', untouched: true } : { reason };
    await workspace.release(checkoutId, { salvage: true, ...how });
  },
  checkoutOf: async (taskId) => {
    const checkout = await workspace.checkoutOf(taskId);
    return checkout === null ? null : placeOf(checkout);
  },
  changeSoFar: async ({ checkoutId, projectId, taskId, attempt, baseSha }) => {
    const { headSha } = await workspace.collect(checkoutId, { taskId, attempt });
    const { files, patch } = await results.diff({ taskId, projectId, baseSha, headSha });
    return [...files.map(({ status, path }) => `${status} ${path}`), '', patch].join('\n');
  },
  checkpoint: workspace.checkpoint,
  dropCheckpoint: workspace.dropCheckpoint,
  restore: workspace.restore,
  salvageOf: workspace.salvageOf,
  recover: async (live) => void (await workspace.recover(live)),
});

export const tokenDoor = (broker: Broker, scripted: Scripted): TokenDoor => ({
  mint: async ({ environmentId, taskId, upstream, harness, budgetUsd, egress, mcp = [] }) => {
    if (upstream === scriptedProvider) await scripted.start();
    return broker.tokens.mint({ environmentId, taskId, models: null, budgetUsd, egress, upstream, harness, mcp });
  },
  end: (environmentId) => broker.tokens.end(environmentId),
});

/** Merges a request, the project's file and the operator's configuration, with what the backend requires by itself. */
export const settleAttempt =
  (parts: SettlingGround & { readonly backends: Pick<Backends, 'get'> }): RunParts['settle'] =>
  async ({ intent, projectId, projectFile }) => {
    const settings = await settleRequest(parts, { request: intent, projectId, projectFile });
    const backend = parts.backends.get(settings.backend);
    checkTakesImage(backend, intent.image);
    return {
      ...settings,
      backend: backend.name,
      upstream: isScripted(settings.model) ? scriptedProvider : null,
      required: requiredOf(backend, intent),
    };
  };

/** Whether the operator trusts what a project's repository brings, by its name or id. */
export const trustedProject =
  (parts: {
    readonly config: { current(): NodeConfig };
    readonly projects: Pick<Projects, 'byIds'>;
  }): RunParts['trustedProject'] =>
  async (projectId) => {
    const name = (await parts.projects.byIds([projectId])).get(projectId)?.name ?? projectId;
    const { trustedProjects } = parts.config.current().execution;
    return { trusted: trustedProjects.includes(name) || trustedProjects.includes(projectId), name };
  };

/** What must hold: what the backend asks for by itself, and files for a task that shall only read. */
const requiredOf = (backend: Backend, { readOnly }: TaskIntent): readonly KeeperGuarantee[] =>
  readOnly ? [...new Set([...backend.defaultRequired, 'files' as const])] : backend.defaultRequired;

/** Takes away the directory of an environment that has ended, as it was recorded when it was made. */
export const environmentRemover =
  (store: Store, remover: Remover) =>
  async (id: string): Promise<void> => {
    const row = await findEnvironment(store.read, id);
    if (row !== null) await remover.remove(recordedEnvironment(row.spec).directory);
  };

/** What a task is refused for before it is queued. */
export const checkCommand = (harness: string, intent: TaskIntent): void => {
  if ((harness === 'command') === (intent.command !== undefined)) return;
  throw new OrreryError(
    'invalid_input',
    harness === 'command' ? 'The harness "command" needs a command.' : `The harness "${harness}" takes no command.`,
    {
      rule: 'A command is what the harness "command" runs instead of an agent; the two go together.',
      fix: 'orrery run --harness command "what it is for" -- make test',
    },
  );
};

/** Throws for a task with a full screen that cannot be had. */
export const checkInteractive = (
  { id, screen }: Harness,
  { intent, withScreen }: { readonly intent: TaskIntent; readonly withScreen: readonly string[] },
): void => {
  if (screen === null)
    throw new OrreryError('unsupported', `The harness ${id} has no full screen.`, {
      rule: `These have one: ${withScreen.join(', ')}.`,
      fix: `orrery run --tui --harness ${withScreen[0] ?? ''}`,
    });
  if (intent.maxRetries !== undefined)
    throw new OrreryError('invalid_input', 'A full screen is not sent back when validation fails.', {
      rule: 'Who works with it reads what validation says, and goes on as they like.',
      fix: 'Leave out --max-retries.',
    });
  if (intent.outputSchema !== undefined)
    throw new OrreryError('invalid_input', 'A full screen gives no typed answer.', {
      rule: 'What it shows is for people; an answer is read from the turns that an agent does alone.',
      fix: 'Leave out --tui, or the output schema.',
    });
  const bytes = Buffer.byteLength(intent.prompt);
  if (bytes > SCREEN_PROMPT_BYTES)
    throw new OrreryError('input_too_large', `A prompt of ${bytes} bytes is too large for a full screen.`, {
      rule: `At most ${SCREEN_PROMPT_BYTES} bytes: the program takes it as an argument.`,
      fix: 'Put it into a file of the repository, and name that.',
    });
};

/** A goal is judged by the model of the agent. */
export const checkGoal = (harness: Pick<Harness, 'id' | 'provider'>, { goal }: TaskIntent): void => {
  if (goal === undefined || harness.provider !== null) return;
  throw new OrreryError('unsupported', `The harness "${harness.id}" calls no model that could judge a goal.`, {
    rule: 'A goal is judged by the model that did the work.',
    fix: 'orrery harness list',
  });
};
