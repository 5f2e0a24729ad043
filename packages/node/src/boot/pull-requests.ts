// Pull requests, on the slices that are really there: what a task or an environment is to one.

import { join } from 'node:path';
import { OrreryError, type LeftOut, type TaskResult } from '@orrery/protocol';
import { createCodeHosts, type CodeHosts } from '../codehost/hosts.ts';
import type { Environments, NamedRow } from '../environment/index.ts';
import { dropPacks } from '../git/pack.ts';
import { isAncestor } from '../git/publish.ts';
import { remotesOf } from '../git/remotes.ts';
import { errorFields } from '../kernel/log.ts';
import {
  bodyOfEnvironment,
  bodyOfTask,
  createPullRequests,
  pullRequestHandlers,
  titleOf,
  type Subject,
} from '../pull-request/index.ts';
import { preparedOf } from '../run/environments/place.ts';
import { isActive, liveSessions, openTurns } from '../session/index.ts';
import { branchOf, intentOf, resultOf, type Tasks } from '../task/index.ts';
import { clock, ids, type Parts } from './parts.ts';

/** Handlers of pull requests. `stopping`: the node ends, and waits for no host. */
export const openPullRequests = (
  parts: Parts,
  given: { readonly tasks: Pick<Tasks, 'find'>; readonly environments: Environments; readonly stopping: AbortSignal },
) => {
  const { store, git, workspace } = parts;
  const hosts = openHosts(parts, given.stopping);
  const step = async (): Promise<void> => undefined;
  const pulls = createPullRequests({ store, clock, ids, git, hosts, mirrorOf: workspace.mirrorOf, step });
  return pullRequestHandlers(pulls, {
    task: async (reference) => taskSubject(parts, given.tasks, reference),
    environment: async (reference) => environmentSubject(parts, given.environments, reference),
  });
};

const openHosts = ({ config, paths, secrets, git, log }: Parts, signal: AbortSignal): CodeHosts => {
  const folder = join(paths.data, 'packs');
  // What a node that ended had not taken away; it is named by nothing.
  dropPacks(folder).catch((thrown: unknown) => log.warn('packs.sweep.failed', errorFields(thrown)));
  return createCodeHosts({
    declared: () => config.current().codehosts,
    configFile: config.file,
    readSecret: secrets.read,
    packing: { git, folder, name: () => ids('pullRequest') },
    nowMs: clock.nowMs,
    signal,
  });
};

const remotesOfProject = async ({ projects, git }: Parts, projectId: string): Promise<readonly string[]> => {
  const { kind, source } = await projects.show(projectId);
  return kind === 'url' ? [source] : remotesOf(git, source);
};

const known = (...names: readonly (string | null)[]): string[] => names.filter((name) => name !== null);

const taskSubject = async (parts: Parts, tasks: Pick<Tasks, 'find'>, reference: string): Promise<Subject> => {
  const task = await tasks.find(reference);
  const projectId = task.project_id;
  if (projectId === null)
    throw new OrreryError('unsupported', `Task ${task.id} worked in a scratch folder.`, {
      rule: 'Only a task of a project has a change to open a pull request for.',
      fix: `orrery task show ${task.id}`,
    });
  const { name, defaultBranch } = await parts.projects.show(projectId);
  const intent = intentOf(task);
  const result = task.result === null ? null : (JSON.parse(task.result) as TaskResult);
  return {
    kind: 'task',
    id: task.id,
    project: { id: projectId, name },
    command: `task pr ${task.id}`,
    branch: branchOf(task),
    bases: known(intent.base ?? null, defaultBranch),
    title: titleOf(intent.prompt, `The result of ${task.id}`),
    body: bodyOfTask({ id: task.id, verdict: task.verdict, result }),
    remotes: () => remotesOfProject(parts, projectId),
    head: async ({ without }) => {
      const found = resultOf(await tasks.find(task.id));
      return { baseSha: found.baseSha, headSha: await parts.results.pick(found, without) };
    },
  };
};

const environmentSubject = async (parts: Parts, environments: Environments, reference: string): Promise<Subject> => {
  const row = await environments.find(reference);
  const { name, defaultBranch } = await parts.projects.show(row.project_id);
  return {
    kind: 'environment',
    id: row.id,
    project: { id: row.project_id, name },
    command: `env pr ${row.name}`,
    branch: row.branch,
    bases: known(row.base, defaultBranch),
    title: `Changes of ${row.name}`,
    body: bodyOfEnvironment(row.name),
    remotes: () => remotesOfProject(parts, row.project_id),
    head: (asked) => environmentHead(parts, environments, { ...asked, id: row.id }),
  };
};

type HeadAsked = { readonly id: string; readonly title: string; readonly without: LeftOut; readonly before: string | null };

/** What an environment holds now as a commit; nothing in it is changed. */
const environmentHead = async (parts: Parts, environments: Environments, { id, title, without, before }: HeadAsked) => {
  if (without.length > 0)
    throw new OrreryError('unsupported', 'Of an environment nothing is left out.', {
      rule: 'Parts are left out of the result of a task; what an environment holds is pushed as it is.',
      fix: 'Take them back in the session first.',
    });
  const row = await environments.brought(id);
  await checkStill(parts, row);
  const prepared = preparedOf(row);
  if (prepared === null)
    throw new OrreryError('not_found', `The environment ${row.name} has no files yet.`, {
      rule: 'Files are pushed once it is made.',
      fix: `orrery env show ${row.name}`,
    });
  const named = { owner: row.id, name: ids('checkpoint') };
  const point = await parts.workspace.checkpoint(prepared.place.checkoutId, named);
  const headSha = await commitOf(parts, { projectId: row.project_id, point, title, before });
  await parts.workspace.dropCheckpoint(row.project_id, point);
  return { baseSha: prepared.baseSha, headSha };
};

/** Files are read between the turns of those who work there. */
const checkStill = async ({ store }: Parts, row: NamedRow): Promise<void> => {
  for (const session of await liveSessions(store.read)) {
    if (session.environment_id !== row.id || !(await openTurns(store.read, session.id)).some(isActive)) continue;
    throw new OrreryError('conflict', `A turn runs in the session ${session.name}.`, {
      rule: 'The files of an environment are pushed between the turns of its sessions.',
      fix: `orrery session stop ${session.name}`,
    });
  }
};

/**
 * The agent's commits, and one more for files that it did not commit. Where only such files changed since the last push, that one
 * goes on top of what was pushed, so that nobody's view of the branch is replaced; the same files are the same commit.
 */
const commitOf = async (
  { git, workspace }: Parts,
  {
    projectId,
    point,
    title,
    before,
  }: {
    readonly projectId: string;
    readonly point: { readonly sha: string; readonly headSha: string };
    readonly title: string;
    readonly before: string | null;
  },
): Promise<string> => {
  if (point.sha === point.headSha) return point.headSha;
  const gitDir = workspace.mirrorOf(projectId);
  const treeOf = (sha: string): Promise<string> => git.text({ gitDir, args: ['rev-parse', '--verify', `${sha}^{tree}`] });
  const tree = await treeOf(point.sha);
  const goesOn = before !== null && (await isAncestor(git, { gitDir }, { older: point.headSha, newer: before }));
  if (goesOn && (await treeOf(before)) === tree) return before;
  const args = ['commit-tree', tree, '-p', goesOn ? before : point.headSha, '-F', '-'];
  const identity = { name: 'orrery', email: 'orrery@localhost' };
  return git.text({ gitDir, readOnly: false, identity, args, input: `${title}\n` });
};
